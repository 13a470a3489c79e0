// Writes what the package is run from into dist/bundle: a few files instead of some three hundred, which take a program,
// its provider and the command line twice as long to load. The packages that it depends on stay outside but those of many
// files: yaml, and zod without its messages in fifty languages, which by itself takes as long to load as all of the rest.
import { build, transform } from "esbuild";
import { copyFileSync, globSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

const { dependencies, peerDependencies } = JSON.parse(readFileSync("package.json", "utf8"));
const inside = ["zod", "yaml", "undici", "commander", "mustache", "mingo"];

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

// Of undici a pool of connections: its whole, with fetch, caches and mocks, takes three times as long to load.
const pool = `import Dispatcher from "undici/lib/dispatcher/dispatcher.js";
import request from "undici/lib/api/api-request.js";
Dispatcher.prototype.request = request;
export { default as Pool } from "undici/lib/dispatcher/pool.js";
export { default as buildConnector } from "undici/lib/core/connect.js";
export { default as errors } from "undici/lib/core/errors.js";`;

// The messages of Pulumi's protocol, as a project of files alone has no SDK installed, and undici. They are CommonJS, and
// what they require from outside is imported for them.
const required = {
  name: "required",
  setup: ({ onResolve, onLoad }) => {
    onResolve({ filter: /^undici$/ }, () => ({ path: "pool", namespace: "undici" }));
    onLoad({ filter: /./, namespace: "undici" }, () => ({ contents: pool, resolveDir: process.cwd() }));
    // One parser of HTTP for all processors.
    onResolve({ filter: /llhttp_simd-wasm\.js$/ }, () => ({
      path: resolve("node_modules/undici/lib/llhttp/llhttp-wasm.js"),
    }));
    onResolve({ filter: /^@pulumi\/pulumi\/proto\// }, ({ path }) => ({ path: resolve("node_modules", path) }));
    onLoad({ filter: /[\\/](pulumi[\\/]proto|undici[\\/]lib|commander)[\\/].*\.js$/ }, async ({ path }) => {
      const { code } = await transform(readFileSync(path, "utf8"), { minify: true });
      const contents = code
        .replaceAll(/require\("((?:google-protobuf|@grpc\/)[^"]*)"\)/g, 'require("imported:$1").default')
        .replaceAll(/require\(("node:[^"]*")\)/g, "globalThis.process.getBuiltinModule($1)");
      return { contents };
    });
    onResolve({ filter: /^imported:/ }, ({ path }) => ({
      path: path.slice("imported:".length),
      namespace: "imported",
    }));
    onLoad({ filter: /./, namespace: "imported" }, ({ path }) => ({
      contents: `import all from ${JSON.stringify(path)};\nexport default all;`,
      resolveDir: process.cwd(),
    }));
  },
};

rmSync("dist/bundle", { recursive: true, force: true }); // chunks of an earlier build, whose names nothing asks for any more

await build({
  entryPoints: {
    index: "cli/entries/index.ts",
    dynamic: "cli/entries/dynamic.ts",
    client: "platform/client/index.ts",
    emulator: "cli/entries/emulator.ts",
    microapps: "cli/commands/microapps.ts",
    "pulumi-resource-microapps": "cli/entries/pulumi-resource-microapps.ts",
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
  // Their builds for Node have requires that a module can't have.
  alias: { yaml: "./node_modules/yaml/browser/dist/index.js", mingo: "./node_modules/mingo/esm" },
  plugins: [oneLanguage, required],
  logLevel: "warning",
});
// What a module imports of Node is asked for there: an import makes Node evaluate all that a module of it exports, also what
// nobody uses, such as the streams of node:fs and the keys of node:crypto. That was a fifth of the time of a short command.
for (const path of globSync("dist/bundle/*.js")) {
  const code = readFileSync(path, "utf8").replaceAll(
    /^import (?:([\w$]+)(?:, )?)?(?:\{([^}]*)\})? from ("node:[^"]+");$/gm,
    (_, whole, names = "", from) => {
      const asked = `process.getBuiltinModule(${from})`;
      const all = whole === undefined ? [] : [`${whole} = ${asked}`];
      if (names !== "") all.push(`{${names.replaceAll(" as ", ": ")}} = ${asked}`);
      return `const ${all.join(", ")};`;
    },
  );
  writeFileSync(path, code);
}
await build({
  entryPoints: { "client.browser": "platform/client/index.ts" },
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
copyFileSync("node_modules/@pulumi/pulumi/LICENSE", "dist/bundle/pulumi.LICENSE");
