import importX, { createNodeResolver } from "eslint-plugin-import-x";
import tseslint from "typescript-eslint";

// The arrows between rooms, as CONTRIBUTING.md draws them: a room imports what stands below it in its list, and `shared`.
// A name that ends in .ts is a file.
const shared = ["provider/habits", "provider/contract", "provider/messages", "machine", "machine/settings"];
const lists = [
  [
    "engine/index.ts",
    "engine/cli",
    "engine/execute.ts",
    "engine/program",
    "engine/deployment",
    "engine/providers",
    "engine/processes",
    "engine/workspace",
    "engine/state",
    "engine/display",
    "engine/values",
    "engine/terminal",
    "engine/events.ts",
    "engine/errors.ts",
    "machine",
    "machine/settings",
  ],
  [
    "emulator/index.ts",
    "emulator/cli.ts",
    "emulator/commands.ts",
    "emulator/fieldsAt.ts",
    "emulator/address.ts",
    "emulator/emulator.ts",
    "emulator/routing.ts",
    "emulator/admin",
    "emulator/platform",
    "emulator/endpoints",
    "emulator/seed",
    "emulator/rows",
    "emulator/habits",
    "emulator/http",
    "emulator/data",
    "provider/layers",
    "provider/files",
    ...shared,
  ],
  ["provider/conformance", "provider/layers", "provider/files", ...shared],
  [
    "cli/dump",
    "cli/dump/mask",
    "cli/dump/rows",
    "cli/recording",
    "cli/recording/privacy",
    "cli/changes/pull",
    "cli/changes/sides",
    "cli/promotion",
    "cli/promotion/rows",
    "cli/promotion/placing",
    "cli/promotion/model",
    "cli/mergeDriver",
    "cli/edits",
    "cli/changes/drift",
    "cli/changes/sealing",
    "cli/changes",
    "cli/changes/plan",
    "cli/changes/state",
    "cli/changes/rendering",
    "cli/changes/events",
    "cli/changes/base",
    "cli/changes/model",
    "sdk/component",
    "sdk",
    "sdk/environment",
    "sdk/secrets",
    "provider/pulumi/hosted",
    "provider/pulumi/plugin",
    "provider/pulumi",
    "provider/pulumi/configuration",
    "provider/pulumi/lifetime",
    "provider/approval",
    "provider/functions",
    "provider/environment/things",
    "provider/environment/checks",
    "provider/environment",
    "provider/environment/inline",
    "provider/resources",
    "provider/resources/rows",
    "provider/resources/rows/writing",
    "provider/resources/rows/live",
    "provider/resources/rows/kept",
    "provider/resources/rows/declared",
    "provider/resources/members",
    "provider/resources/records",
    "provider/resources/model",
    "provider/sources",
    "provider/layers",
    "provider/files",
    "provider/reconcile/merging",
    "provider/reconcile",
    "provider/client",
    "provider/client/lists",
    "provider/client/http",
    ...shared,
  ],
];
// What composes: the command line, and the two places that start an emulator or read its seed.
const more = {
  "provider/cmd": ["provider/pulumi/plugin", "provider/pulumi/lifetime", "sdk/component", "machine"],
  "cli/commands": [
    "engine/index.ts",
    "engine/cli",
    "emulator/index.ts",
    "emulator/cli.ts",
    "provider/conformance",
    ...lists[3],
  ],
  "provider/pulumi": ["emulator/index.ts", "emulator/address.ts", "emulator/fieldsAt.ts"],
  "provider/environment": ["emulator/seed"],
  "provider/environment/checks": ["emulator/seed"],
};
const rooms = [...new Set([...Object.keys(more), ...lists.flat()])];
// The rule wants all of them to be patterns.
const filesOf = (room) =>
  room.endsWith(".ts") ? room.replace(".ts", ".{ts,}") : `${room}/${room === "cli/commands" ? "**/" : ""}*.ts`;
const allowed = (room) => [
  room,
  ...lists.flatMap((list) => (list.includes(room) ? list.slice(list.indexOf(room) + 1) : [])),
  ...(more[room] ?? []),
];
const arrows = rooms.map((room) => ({
  target: filesOf(room),
  from: rooms.filter((other) => !allowed(room).includes(other)).map(filesOf),
  message: `${room} may not import this: see the arrows in eslint.config.js.`,
}));

// Where deletions, approvals, locks and statuses are decided, an error stands for nothing only once it was looked at.
const deciding = [
  "provider/resources/**/*.ts",
  "provider/reconcile/*.ts",
  "provider/approval/*.ts",
  "cli/changes/sealing/*.ts",
  "provider/files/*.ts",
  "engine/state/*.ts",
  "machine/settings/*.ts",
];
const nothing =
  ":matches(ArrayExpression[elements.length=0], Identifier[name='undefined'], Literal[value=''], Literal[value=false])";
const lookAtIt =
  "An error may hide that there is something: answer this for errors that tell there is none (isAbsent), and throw the others.";

// Arrows, the order of imports and errors looked at: the rules that oxlint lacks. All others stand in .oxlintrc.json.
export default tseslint.config(
  { ignores: ["dist/", "node_modules/", "coverage/", "**/.microapps/", "**/testdata/", "sdks/"] },
  { linterOptions: { reportUnusedDisableDirectives: "off" } },
  {
    files: ["**/*.ts"],
    extends: [tseslint.configs.base],
    plugins: { "import-x": importX },
    settings: { "import-x/resolver-next": [createNodeResolver({ extensions: [".ts"] })] },
    rules: {
      "import-x/order": [
        "error",
        { alphabetize: { order: "asc" }, groups: [["builtin", "external"], "parent", "sibling"] },
      ],
    },
  },
  {
    files: deciding,
    ignores: ["**/*.test.ts"],
    rules: {
      "no-restricted-syntax": [
        "error",
        { selector: `CatchClause:not([param]) ReturnStatement > ${nothing}`, message: lookAtIt },
        {
          selector: `CallExpression[callee.property.name='catch'] > ArrowFunctionExpression[params.length=0] > ${nothing}`,
          message: lookAtIt,
        },
      ],
    },
  },
  {
    files: rooms.map(filesOf),
    ignores: ["**/*.test.ts", "**/testing/**"],
    rules: { "import-x/no-restricted-paths": ["error", { zones: arrows }] },
  },
);
