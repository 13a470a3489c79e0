// No file imports itself by way of others, for types neither: a reader would need them all to understand one. Part of
// `make check`, where a rule of ESLint takes a minute for it.
import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

const files = globSync("{cli,emulator,engine,examples,machine,provider,sdk,testing,tools}/**/*.ts", {
  exclude: ["**/node_modules", "**/testdata"],
});
const statement = /^(?:import|export)\s+(?:[^"';]*?\sfrom\s+)?"(\.[^"]+)"/gm;
const later = /\bimport\("(\.[^"]+)"\)/g;

const importsOf = (file) => {
  const text = readFileSync(file, "utf8");
  return [...text.matchAll(statement), ...text.matchAll(later)].map(([, path]) => join(dirname(file), path));
};
const imports = new Map(files.map((file) => [file, importsOf(file)]));

const left = new Set();
const chain = [];
function follow(file) {
  if (left.has(file)) return;
  const start = chain.indexOf(file);
  if (start >= 0) {
    console.error(`imports go in a circle: ${[...chain.slice(start), file].join(" → ")}`);
    process.exit(1);
  }
  chain.push(file);
  for (const imported of imports.get(file) ?? []) follow(imported);
  chain.pop();
  left.add(file);
}
files.forEach(follow);
