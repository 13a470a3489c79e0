/** One command on a program, and what both engines answer to it. */
export interface Turn {
  /** The program from here on; undefined leaves it. */
  program?: string;
  /** Words of the command line. Operations go on without a question. */
  command: string;
  /** True when both engines end with another status than 0. */
  fails?: boolean;
  /** Changes the things of the platform, by ID. */
  byHand?: (items: Record<string, Record<string, unknown>>) => void;
  /** Files of the project, by path. */
  files?: Readonly<Record<string, string>>;
  environment?: Readonly<Record<string, string>>;
}

/** A program that lives for some commands, under the Pulumi CLI and under the embedded engine. */
export interface OptionProgram {
  /** The option of Pulumi, or the story. */
  name: string;
  turns: readonly Turn[];
}

const withoutQuestion = "--yes --skip-preview";

export const up = (program?: string, more: Partial<Turn> = {}): Turn => ({
  ...(program === undefined ? {} : { program }),
  command: `up ${withoutQuestion}`,
  ...more,
});
export const preview = (program?: string, more: Partial<Turn> = {}): Turn =>
  up(program, { command: "preview", ...more });
export const refresh = (more: Partial<Turn> = {}): Turn => ({ command: `refresh ${withoutQuestion}`, ...more });
export const destroy = (more: Partial<Turn> = {}): Turn => ({ command: `destroy ${withoutQuestion}`, ...more });
/** A command with flags instead of the plain one. */
export const withFlags = (flags: string, more: Partial<Turn> = {}): Partial<Turn> => ({
  command: `up ${withoutQuestion} ${flags}`,
  ...more,
});

/**
 * Before each program: `Thing` is a dynamic resource, `Tiny` one of a plugin. `kind` replaces, `dbr` deletes first,
 * `computed` is known once a thing exists, and `failCreate` and the like fail.
 */
export const prelude = `
const pulumi = require("@pulumi/pulumi");
class Thing extends pulumi.CustomResource {
  constructor(name, inputs, options) {
    const __provider = 'exports.handler=()=>require("./prov.cjs")';
    super("pulumi-nodejs:dynamic/t:Thing", name, { __provider, name, computed: undefined, ...inputs }, options);
  }
}
class Tiny extends pulumi.CustomResource {
  constructor(name, inputs, options) {
    super("tiny:index:Thing", name, { serial: undefined, name, ...inputs }, options);
  }
}
class Group extends pulumi.ComponentResource {
  constructor(name, options, type = "t:i:Group") { super(type, name, {}, options); this.registerOutputs({}); }
}
class Provider extends pulumi.ProviderResource {}
`;
