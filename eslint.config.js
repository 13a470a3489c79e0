import boundaries from "eslint-plugin-boundaries";
import tseslint from "typescript-eslint";

// The arrows between rooms: who may import whom. CONTRIBUTING.md draws the same map.
const arrows = {
  machine: [],
  files: [],
  contract: [],
  client: ["contract"],
  reconcile: ["contract"],
  resources: ["reconcile", "client", "contract", "files", "machine"],
  functions: ["resources", "reconcile", "client", "contract"],
  pulumi: ["functions", "resources", "reconcile", "client", "contract", "files", "emulator", "machine"],
  dump: ["pulumi", "functions", "resources", "reconcile", "client", "contract"],
  sdk: ["pulumi", "functions", "resources", "client", "contract", "files", "emulator"],
  emulator: ["contract", "files", "machine"],
  engine: ["machine"],
  cmd: ["engine", "emulator", "sdk", "dump", "pulumi", "resources", "client", "contract", "machine"],
};
const rooms = Object.keys(arrows);
const folder = (room) => (["sdk", "emulator", "engine", "machine"].includes(room) ? room : `provider/${room}`);

export default tseslint.config(
  { ignores: ["dist/", "node_modules/", "coverage/", "**/.microapps/", "**/testdata/"] },
  { files: ["**/*.js", "**/*.cjs"], extends: [tseslint.configs.base] },
  {
    files: ["**/*.ts"],
    extends: [tseslint.configs.strictTypeChecked],
    languageOptions: { parserOptions: { projectService: true } },
    rules: {
      "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true, allowBoolean: true }],
      "@typescript-eslint/no-confusing-void-expression": ["error", { ignoreArrowShorthand: true }],
      "@typescript-eslint/consistent-type-imports": "error",
      "@typescript-eslint/no-unused-vars": ["error", { ignoreRestSiblings: true }],
      // Does not look into intersections, of which the resource classes are derived.
      "@typescript-eslint/no-unsafe-class-instance-assignment": "off",
      "@typescript-eslint/switch-exhaustiveness-check": ["error", { considerDefaultExhaustiveForUnions: true }],
    },
  },
  {
    files: rooms.map((room) => `${folder(room)}/**/*.ts`),
    ignores: ["**/*.test.ts", "**/testing/**"],
    plugins: { boundaries },
    settings: {
      "boundaries/elements": rooms.map((room) => ({ type: room, pattern: folder(room) })),
      "import/resolver": { node: { extensions: [".ts"] } },
    },
    rules: {
      "boundaries/dependencies": [
        "error",
        {
          default: "disallow",
          message: "{{from.element.type}} may not import {{to.element.type}}: see the arrows in eslint.config.js",
          policies: rooms.map((room) => ({
            from: { element: { type: room } },
            allow: { to: { element: { type: [room, ...arrows[room]] } } },
          })),
        },
      ],
    },
  },
  {
    files: ["provider/**/*.ts", "sdk/**/*.ts", "emulator/**/*.ts", "engine/**/*.ts", "machine/**/*.ts"],
    ignores: ["provider/client/transport.ts", "**/*.test.ts", "**/testing/**"],
    rules: {
      "no-restricted-imports": [
        "error",
        { paths: [{ name: "undici", message: "Only provider/client/transport.ts speaks HTTP." }] },
      ],
    },
  },
);
