import { defineConfig } from "oxlint";

// The arrows between the top rooms, which CONTRIBUTING.md draws: a room imports its own files, and the face of those that it
// lists. Tools and tests may import everything.
const arrows: Readonly<Record<string, readonly string[]>> = {
  platform: [],
  machine: [],
  engine: ["machine"],
  emulator: ["platform", "machine"],
  provider: ["platform", "machine"],
  sdk: ["provider", "platform", "machine"],
  cli: ["sdk", "provider", "engine", "emulator", "platform", "machine"],
};
// The face of a room: what others may import of it, twelve files at most, as its README says. The provider has none yet.
const faces: Readonly<Record<string, string>> = {
  platform:
    "{client/{index,lists},client/http/{call,proxies},contract/{endpoints,people,values,wire},messages/{masks,text},profile/profile,seed/schema}.ts",
  machine: "*.ts",
  engine: "{index,decide,cli/cli,cli/globals,hosted/calls,hosted/dynamic}.ts",
  emulator: "{index,admin/actions,conformance/facts,conformance/run,seed/snapshots}.ts",
  sdk: "{index,}.ts",
  provider: "**/*.ts",
};
const rooms = Object.keys(arrows);
const zones = rooms.flatMap((room) => {
  const others = [...rooms, "tools", "testing"].filter((other) => other !== room);
  const foreign = others.filter((other) => !arrows[room]?.includes(other)).map((other) => `${other}/**/*.ts`);
  const message = `${room} may not import this: see the arrows and faces in oxlint.config.ts.`;
  const target = `${room}/**/*.ts`;
  return [
    { target, from: foreign, message },
    ...(arrows[room] ?? []).map((other) => ({
      ...{ target, from: [`${other}/**/*.ts`], message },
      except: [`**/${other}/${faces[other] ?? ""}`],
    })),
  ];
});

// Where deletions, approvals, locks and statuses are decided, an error stands for nothing only once it was looked at.
const deciding = [
  "provider/{resources,seedRows}/**/*.ts",
  "provider/files/*.ts",
  "engine/state/*.ts",
  "engine/workspace/*.ts",
];
const nothing =
  ":matches(ArrayExpression[elements.length=0], Identifier[name='undefined'], Literal[value=''], Literal[value=false])";
const lookAtIt =
  "An error may hide that there is something: answer this for errors that tell there is none (isAbsent), and throw the others.";

/** All that is published, in source. */
const product = [`{${rooms.join()}}/**/*.ts`];

export default defineConfig({
  plugins: ["typescript", "import"],
  jsPlugins: [
    { name: "imports", specifier: "eslint-plugin-import-x" },
    { name: "eslint-js", specifier: "oxlint-plugin-eslint" },
  ],
  settings: {
    "import-x/resolver": {
      node: {
        extensions: [".ts"],
      },
    },
  },
  categories: { correctness: "error", suspicious: "error" },
  rules: {
    "no-control-regex": "off", // texts of others are searched for them
    "no-this-before-super": "off", // it does not see that a constructor of a resource calls it
    "typescript/require-array-sort-compare": "off", // texts are sorted by their code units
    "no-shadow": "off", // a short function may name what it takes as the file names something else
    "no-underscore-dangle": "off", // the platform and Pulumi have such names
    "no-new": "off", // programs declare resources so
    "no-unmodified-loop-condition": "off", // it does not see what changes while a loop waits
    "consistent-return": "off", // the compiler checks what a function returns
    "typescript/no-unsafe-type-assertion": "off", // what was checked otherwise
    "import/no-named-as-default-member": "off", // libraries are used as their documentation does
    "import/namespace": "off", // names that are computed are checked by the compiler
  },
  options: { typeAware: true, denyWarnings: true },
  ignorePatterns: [
    "dist/",
    "node_modules/",
    "coverage/",
    "**/.microapps/",
    "**/testdata/",
    "testing/released/*/",
    "sdks/",
  ],
  overrides: [
    {
      files: ["**/*.ts"],
      rules: {
        "no-var": "error",
        "prefer-const": "error",
        "prefer-rest-params": "error",
        "prefer-spread": "error",
        "no-array-constructor": "error",
        "no-unused-vars": ["error", { ignoreRestSiblings: true }],
        "typescript/ban-ts-comment": ["error", { minimumDescriptionLength: 10 }],
        "import/no-cycle": ["error", { ignoreTypes: false }],
        "typescript/no-confusing-void-expression": ["error", { ignoreArrowShorthand: true }],
        "typescript/no-deprecated": "error",
        "typescript/no-dynamic-delete": "error",
        "typescript/no-empty-object-type": "error",
        "typescript/no-explicit-any": "error",
        "typescript/no-invalid-void-type": "error",
        "typescript/no-misused-promises": "error",
        "typescript/no-namespace": "error",
        "typescript/no-non-null-asserted-nullish-coalescing": "error",
        "typescript/no-non-null-assertion": "error",
        "typescript/no-require-imports": "error",
        "typescript/no-unsafe-argument": "error",
        "typescript/no-unsafe-assignment": "error",
        "typescript/no-unsafe-call": "error",
        "typescript/no-unsafe-function-type": "error",
        "typescript/no-unsafe-member-access": "error",
        "typescript/no-unsafe-return": "error",
        "typescript/only-throw-error": "error",
        "typescript/prefer-promise-reject-errors": "error",
        "typescript/prefer-reduce-type-parameter": "error",
        "typescript/prefer-return-this-type": "error",
        "typescript/related-getter-setter-pairs": "error",
        "typescript/require-await": "error",
        "typescript/restrict-plus-operands": [
          "error",
          {
            allowAny: false,
            allowBoolean: false,
            allowNullish: false,
            allowNumberAndString: false,
            allowRegExp: false,
          },
        ],
        "typescript/restrict-template-expressions": ["error", { allowNumber: true, allowBoolean: true }],
        "typescript/return-await": ["error", "error-handling-correctness-only"],
        "typescript/unified-signatures": "error",
        "typescript/use-unknown-in-catch-callback-variable": "error",
        "typescript/consistent-type-imports": "error",
        "typescript/switch-exhaustiveness-check": ["error", { considerDefaultExhaustiveForUnions: true }],
        "typescript/no-unnecessary-condition": "error",
      },
    },
    {
      files: product,
      excludeFiles: ["platform/client/http/undiciSender.ts", "**/*.test.ts", "**/testing/**"],
      rules: {
        "no-restricted-imports": [
          "error",
          {
            paths: [{ name: "undici", message: "Only platform/client/http/undiciSender.ts speaks HTTP." }],
          },
        ],
      },
    },
    {
      files: deciding,
      excludeFiles: ["**/*.test.ts"],
      rules: {
        "eslint-js/no-restricted-syntax": [
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
      files: product,
      excludeFiles: ["**/*.test.ts", "**/testing/**"],
      rules: { "imports/no-restricted-paths": ["error", { zones }] },
    },
  ],
});
