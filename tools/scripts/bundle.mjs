// Writes what the package is run from into dist/bundle: a few files instead of some three hundred, which take a program,
// its provider and the command line twice as long to load. The packages that it depends on stay outside but those of many
// files: yaml, and zod without its messages in fifty languages, which by itself takes as long to load as all of the rest.
import { build } from "esbuild";
import { copyFileSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";

const { dependencies, peerDependencies } = JSON.parse(readFileSync("package.json", "utf8"));
const inside = ["zod", "yaml"];

const oneLanguage = {
  name: "one language",
  setup: ({ onLoad }) => onLoad({ filter: /zod[\\/]v4[\\/]locales[\\/]index\.js$/ }, () => ({ contents: "" })),
};

// Where undici is not: requests go by fetch.
const byFetch = {
  name: "by fetch",
  setup: ({ onResolve }) =>
    onResolve({ filter: /\/undiciSender\.ts$/ }, ({ resolveDir }) => ({ path: join(resolveDir, "fetchSender.ts") })),
};

rmSync("dist/bundle", { recursive: true, force: true }); // chunks of an earlier build, whose names nothing asks for any more

await build({
  entryPoints: {
    index: "sdk/index.ts",
    dynamic: "provider/pulumi/dynamic.ts",
    client: "provider/client/index.ts",
    emulator: "emulator/index.ts",
    microapps: "cli/commands/microapps.ts",
    "pulumi-resource-microapps": "provider/cmd/pulumi-resource-microapps.ts",
    // Started by their paths beside what starts them.
    lifeline: "engine/processes/lifeline.ts",
  },
  outdir: "dist/bundle",
  bundle: true,
  splitting: true, // what two of them use is there once: an error of the client is the same class for the SDK
  format: "esm",
  platform: "node",
  target: "node22.19",
  external: Object.keys({ ...dependencies, ...peerDependencies }).filter((name) => !inside.includes(name)),
  // Its build for Node has requires that a module can't have.
  alias: { yaml: "./node_modules/yaml/browser/dist/index.js" },
  plugins: [oneLanguage],
  logLevel: "warning",
});
await build({
  entryPoints: { "client.browser": "provider/client/index.ts" },
  outdir: "dist/bundle",
  bundle: true,
  format: "esm",
  platform: "browser",
  target: "es2022",
  external: ["zod"],
  plugins: [byFetch],
  logLevel: "warning",
});
for (const name of [...inside, "unhomoglyph"])
  copyFileSync(`node_modules/${name}/LICENSE`, `dist/bundle/${name}.LICENSE`);
