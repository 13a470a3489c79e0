// An address is `#view/ID/ID?filter`: a question mark in an ID is encoded.

const decoded = (part) => {
  try {
    return decodeURIComponent(part);
  } catch {
    return part; // a stray % is no code
  }
};

/** Splits the page's hash: its parts, the parameters behind them, and the place without parameters. */
export function readAddress(hash) {
  const [place, ...rest] = hash.split("?");
  return { place, path: place.slice(1).split("/").map(decoded), query: new URLSearchParams(rest.join("?")) };
}

/** Writes parameters behind a place, as a step that the browser goes back from. The page stays. */
export function keepInAddress(place, query) {
  const text = query.toString();
  const hash = text === "" ? place : `${place}?${text}`;
  if (hash !== location.hash) history.pushState(null, "", hash);
}
