import type { RowData } from "../../../provider/contract/values.ts";
import type { DeclaredThing as DeclaredThing } from "../../../provider/environment/things/things.ts";
import type { FileEdit } from "../../edits/edits.ts";
import type { Observer } from "../drift/drift.ts";
import type { Change, Thing } from "../model/changeSet.ts";
import type { StateResource } from "../state/state.ts";

type Values = Readonly<Record<string, unknown>>;

/** One change by hand, and the edits that take it into the files. */
export interface PullItem {
  kind: Thing["kind"];
  /** The thing as reports name it. */
  thing: string;
  change: Change;
  edits: FileEdit[];
  /** The reason for leaving it. */
  refused?: string;
}

/** Makes an item of a change; the edits are made by `make`, which may throw a refusal. */
export type MakeItem = (change: Change, make: (declared: DeclaredThing) => FileEdit[]) => PullItem;

/** Rows of a seed as a look found them. */
export interface SeenRows {
  changed: Map<string, RowData>;
  foreign: RowData[];
  missing: readonly string[];
}

/** A resource as a look found it. */
export interface SeenResource {
  resource: StateResource;
  applied: Values;
  found: Values | undefined;
  rows: SeenRows | undefined;
  /** Names of settings that a run would put back. */
  changed: readonly string[];
}

/** Somebody in a team whom nobody declares: by address, or by user ID where the platform shows none. */
export interface Stranger {
  name: string;
  /** In the platform's words. */
  role: string | undefined;
}

/** Remembers what a look finds, for `listItems`. */
export class LiveFindings implements Observer {
  readonly all: SeenResource[] = [];
  /** By the name of the team. */
  readonly strangers = new Map<string, readonly Stranger[]>();
  readonly #rows = new Map<StateResource, SeenRows>();
  readonly #foreign: boolean;

  /** @param foreign whether rows and people that nobody owns are kept */
  constructor(foreign: boolean) {
    this.#foreign = foreign;
  }

  watch = (resource: StateResource) => {
    if (resource.kind !== "SeedRows") return undefined;
    const rows: SeenRows = { changed: new Map(), foreign: [], missing: [] };
    this.#rows.set(resource, rows);
    return {
      changed: (key: string, values: RowData) => void rows.changed.set(key, values),
      foreign: (values: RowData) => {
        if (this.#foreign) rows.foreign.push(values);
      },
      missing: (keys: readonly string[]) => {
        rows.missing = keys;
      },
    };
  };

  get others(): Observer["others"] {
    if (!this.#foreign) return undefined;
    return (team, people) => void this.strangers.set(team.name, people);
  }

  found: Observer["found"] = (resource, applied, found, changed) => {
    this.all.push({ resource, applied, found, changed, rows: this.#rows.get(resource) });
  };
}
