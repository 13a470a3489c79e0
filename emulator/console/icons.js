import { html, svg } from "./lit-html/lit-html.js";

const paths = {
  tables: "M3 5h18v14H3zM3 10h18M9 10v9",
  organizations: "M4 21V6l8-3v18M12 9l8 3v9M2 21h20M8 8v.5M8 12v.5M8 16v.5M16 15v.5",
  users: "M9 11a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM2 21c0-4 3-6 7-6s7 2 7 6M16 4a4 4 0 0 1 0 7M19 15c2 1 3 3 3 6",
  files: "M6 2h8l5 5v15H6zM14 2v6h5",
  inboxes: "M3 13l3-9h12l3 9v7H3zM3 13h5l2 3h4l2-3h5",
  apps: "M4 4h6v6H4zM14 4h6v6h-6zM4 14h6v6H4zM14 14h6v6h-6z",
  calls: "M3 12h4l3-8 4 16 3-8h4",
  faults: "M12 3l10 18H2zM12 10v5M12 18v.5",
  snapshots: "M12 7v5l3 2M3 12a9 9 0 1 0 3-6.7L3 8M3 3v5h5",
};

export const icon = (name) =>
  html`<svg viewBox="0 0 24 24" width="16" height="16" aria-hidden="true">${svg`<path d=${paths[name]} />`}</svg>`;
