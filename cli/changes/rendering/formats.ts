/** How a report may be written. */
export const formats = ["md", "json", "text"] as const;
export type Format = (typeof formats)[number];
