import * as pulumi from "@pulumi/pulumi";
import { messageOf } from "../machine/failures.ts";
import { declaration, type Declaration, fileAmong, withSecrets } from "../provider/environment/declaration.ts";
import { EnvironmentError } from "../provider/environment/problems.ts";
import { type DeclaredThing, listAwaited, listLinkedInputs, things } from "../provider/environment/things.ts";
import { optionsBelow, type OptionsBelow } from "../provider/pulumi/properties.ts";
import { aliasesBelow, rootName, type Aliases } from "./program.ts";
import type { RowsOf } from "./resourceClass.ts";
import {
  GeneratedApp,
  Notification,
  Organization,
  RowFile,
  SeedRows,
  Team,
  TeamMember,
  TeamRoster,
} from "./resources.ts";

/** Arguments of an Environment. */
export interface EnvironmentArgs {
  /** Path of the YAML file that declares it, relative to the folder in which the program runs. */
  file: string;
}

/**
 * Organizations, teams, members, seed rows and generated apps, declared in one YAML file. Resources are named
 * `<environment>/<logical name>`, so a rename on the platform is an update; a wrong file ends the program before any
 * resource is registered, with every problem at its file, line and column.
 */
export class Environment extends pulumi.ComponentResource {
  /** IDs of the organizations by logical name. */
  readonly organizations: pulumi.Output<Record<string, string>>;
  /** IDs of the teams by `organization/team`. */
  readonly teams: pulumi.Output<Record<string, string>>;
  /** Row counts by logical name of the seed. */
  readonly seeds: pulumi.Output<Record<string, number>>;
  /** Links to the apps by logical name. */
  readonly apps: pulumi.Output<Record<string, string>>;

  constructor(name: string, args: EnvironmentArgs, options?: pulumi.ComponentResourceOptions) {
    const declared = declaredIn(fileIn({ ...args }));
    super("microapps:index:Environment", name, {}, options);
    const below = optionsBelow({
      ...(options?.ignoreChanges && { ignoreChanges: options.ignoreChanges }),
      ...(options?.replaceOnChanges && { replaceOnChanges: options.replaceOnChanges }),
      customTimeouts: options?.customTimeouts,
    });
    const root = rootName(name, options);
    const all = things(declared, root);
    const registered = new Registration(this, below.at, all);
    const refusal = below.refusal();
    if (refusal !== undefined) throw new pulumi.RunError(refusal);
    this.organizations = collected(registered.of(Organization), ({ id }) => id);
    this.teams = collected(registered.of(Team), ({ id }) => id);
    this.seeds = collected(registered.of(SeedRows), ({ rowCount }) => rowCount);
    this.apps = collected(registered.of(GeneratedApp), ({ ready }) => ready);
    const { organizations: ids, teams: teamIDs, seeds: counts, apps: links } = this;
    this.registerOutputs({ organizations: ids, teams: teamIDs, seeds: counts, apps: links });
  }
}

/** Reads what is declared. Throws a RunError for what is wrong: the runner prints its message without a stack. */
function declaredIn(file: string): Declaration {
  try {
    return withSecrets(declaration(file, process.cwd(), configured), pulumi.secret);
  } catch (error) {
    throw error instanceof EnvironmentError ? new pulumi.RunError(error.message) : error;
  }
}

/** The file of an Environment. Throws a RunError for arguments that only a program without types can have. */
function fileIn(args: Readonly<Record<string, unknown>>): string {
  try {
    return fileAmong(args);
  } catch (error) {
    throw new pulumi.RunError(messageOf(error));
  }
}

/** A value of the project's own configuration. */
function configured(key: string): { text: string; secret: boolean } | undefined {
  const name = `${pulumi.getProject()}:${key}`;
  const text = pulumi.runtime.getConfig(name);
  // A value counts as a secret where the runtime does not know whether it is one.
  const { isConfigSecret } = pulumi.runtime as { isConfigSecret?: (name: string) => boolean };
  return text === undefined ? undefined : { text, secret: isConfigSecret?.(name) ?? true };
}

type ByName<Resource> = ReadonlyMap<string, Resource>;

function collected<Resource, Value>(
  resources: ByName<Resource>,
  output: (resource: Resource) => pulumi.Output<Value>,
): pulumi.Output<Record<string, Value>> {
  const outputs = [...resources].map(([name, resource]) => output(resource).apply((value) => [name, value] as const));
  // apply resolves what is inside of an entry, too: a value of the platform's is plain already.
  return pulumi.all(outputs).apply((entries) => Object.fromEntries(entries as (readonly [string, Value])[]));
}

/** The classes of what an Environment becomes. What waits for an app is registered by the app. */
const classes = { GeneratedApp, Notification, Organization, RowFile, SeedRows, Team, TeamMember, TeamRoster };
type Kind = keyof typeof classes;
type Made = InstanceType<(typeof classes)[Kind]>;

/** Registers what an Environment becomes, thing by thing. */
class Registration {
  readonly #environment: pulumi.Resource;
  readonly #aliases: Aliases;
  readonly #optionsAt: OptionsBelow<pulumi.CustomTimeouts>["at"];
  readonly #things: ReadonlyMap<string, DeclaredThing>;
  readonly made = new Map<string, Made>();

  constructor(
    environment: pulumi.Resource,
    optionsAt: OptionsBelow<pulumi.CustomTimeouts>["at"],
    all: readonly DeclaredThing[],
  ) {
    this.#environment = environment;
    this.#aliases = aliasesBelow(environment);
    this.#optionsAt = optionsAt;
    this.#things = new Map(all.map((thing) => [thing.key, thing]));
    for (const thing of all) this.#register(thing);
  }

  /** The registered resources of a class, by their names below the Environment. */
  of<Resource extends Made>(Class: new (...args: never[]) => Resource): ReadonlyMap<string, Resource> {
    const found = [...this.made].flatMap(([key, one]) =>
      one instanceof Class ? [[key.slice(key.indexOf(" ") + 1), one] as const] : [],
    );
    return new Map(found);
  }

  #register(thing: DeclaredThing): void {
    const { kind, key } = thing;
    if (kind === "AppReadiness") return;
    const Class = classes[kind] as unknown as new (name: string, args: object, options: object) => Made; // the file was checked
    this.made.set(key, new Class(thing.name.now, this.#argsOf(thing), this.#optionsOf(thing)));
  }

  #argsOf(thing: DeclaredThing): object {
    const ids = listLinkedInputs(thing, ({ of, id }) => (of === undefined ? id : required(this.made, of).id));
    const args = { ...thing.inputs, ...ids, ...this.#rowsOf(thing) };
    if (thing.kind !== "GeneratedApp") return args;
    const waits = [...this.#things.values()].find(({ kind, above }) => kind === "AppReadiness" && above === thing.key);
    return { ...args, ...(waits?.inputs ?? { wait: "none" }) };
  }

  /** Seeds that rows refer to, in place of their tables. */
  #rowsOf({ inputs, seeds }: DeclaredThing): object {
    const seedOf = (label: string, rows: unknown): unknown =>
      seeds[label] === undefined ? rows : this.made.get(seeds[label]);
    const { references, parent, expect } = inputs as {
      references?: Record<string, RowsOf>;
      expect?: { relationships?: Record<string, RowsOf> };
      parent?: { by: string; table: string; key: string };
    };
    const linked = Object.entries(references ?? {}).map(([label, rows]) => [label, seedOf(label, rows)]);
    const related = Object.entries(expect?.relationships ?? {}).map(([label, rows]) => [label, seedOf(label, rows)]);
    return {
      ...(references ? { references: Object.fromEntries(linked) as object } : {}),
      ...(expect?.relationships ? { expect: { ...expect, relationships: Object.fromEntries(related) as object } } : {}),
      ...(parent
        ? { parent: { rows: seedOf(parent.by, { table: parent.table, key: parent.key }), by: parent.by } }
        : {}),
    };
  }

  #optionsOf(thing: DeclaredThing): pulumi.CustomResourceOptions {
    const { kind, name, path, others, above, retain } = thing;
    // All of an app's as its own, so that the wait for it inherits them in turn.
    const own = [...name.own, ...name.inherited];
    const named = kind === "GeneratedApp" ? { ...name, own, inherited: [] } : name;
    const parent = above === undefined ? this.#environment : required(this.made, above);
    const aliases = this.#aliases(this.#kindsTo(thing), named);
    const retained = retain ? { retainOnDelete: true } : {};
    const options = { parent, ...aliases, ...retained, ...this.#optionsAt(path, others) };
    const awaited = listAwaited(thing, [...this.#things.values()]).flatMap((key) => this.#awaited(key));
    return awaited.length === 0 ? options : pulumi.mergeOptions(options, { dependsOn: awaited });
  }

  /** A resource, once it is there; of a wait for an app, the app once it is ready. */
  #awaited(key: string): pulumi.Input<pulumi.Resource>[] {
    const { kind, above = key } = required(this.#things, key);
    const made = this.made.get(kind === "AppReadiness" ? above : key);
    if (kind === "AppReadiness" && made instanceof GeneratedApp) return [made.ready.apply(() => made)];
    return made ? [made] : [];
  }

  /** Types from the Environment down to a thing. */
  #kindsTo({ kind, above }: DeclaredThing): string[] {
    return above === undefined ? [kind] : [...this.#kindsTo(required(this.#things, above)), kind];
  }
}

/** Looks up a value that the check of the declaration has proven to be there. */
function required<Value>(values: ReadonlyMap<string, Value>, key: string): Value {
  const value = values.get(key);
  if (value === undefined) throw new Error(`"${key}" was checked and is not there`);
  return value;
}
