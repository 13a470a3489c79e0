/** Finds something about an object once: what depends on a resource's definition alone is asked for with each call. */
export function once<About extends object, Found>(find: (about: About) => Found): (about: About) => Found {
  const known = new WeakMap<About, Found>();
  return (about) => {
    const found = known.get(about) ?? find(about);
    known.set(about, found);
    return found;
  };
}
