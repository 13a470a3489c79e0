import { describeNamed, readName } from "../resources/model/identities.ts";
import { ResourceError } from "../resources/model/resource.ts";
import type { Resource } from "../resources/resource.ts";
import { again, type Approved } from "./approved.ts";
import { digestApplied, digestDeclared, wrongLink, type ApprovalContext } from "./inputs.ts";
import type { SealedOperation, SealedResource } from "./seal.ts";

type Values = Readonly<Record<string, unknown>>;

/** A resource as an engine names it in a call. */
export interface Asked {
  resource: Resource;
  urn: string | undefined;
}

/** Holds each operation of a run against the report that was approved. */
export class Enforcement {
  readonly #approved: Approved;
  readonly #context: ApprovalContext;
  readonly #run: string;
  readonly #isUnknown: (value: unknown) => boolean;
  /** IDs of what this run created, by the key of its seal. */
  readonly #made = new Map<string, string>();
  /** IDs that the engine's state has, where the report was made without it. */
  readonly #known = new Map<string, string>();
  /** URNs of what the program has declared so far. */
  readonly #declared = new Set<string>();
  #root: string | undefined;

  /** @param run identifies this run: the engine's address */
  constructor(approved: Approved, context: ApprovalContext, run: string, isUnknown: (value: unknown) => boolean) {
    this.#approved = approved;
    this.#context = context;
    this.#run = run;
    this.#isUnknown = isUnknown;
    this.#root = approved.seal.root;
    if (approved.use.isUsed(run)) this.#refuse("a run was made with this approval already: each is for one run");
  }

  /** Checks a declared resource: throws when it is new and not in the report, or declared differently there. */
  declared(asked: Asked, inputs: Values, isNew: boolean): void {
    if (asked.urn !== undefined) this.#declared.add(asked.urn);
    // An existing, unchanged thing needs no approval: its diff finds out.
    if (!isNew) return;
    const found = this.#find(asked.urn);
    if (found) this.#assertDeclared(asked, found, inputs);
    else this.#unlisted(asked, "create");
  }

  /** Learns of a resource that is in the state; checks how an engine plans to change it, if at all. */
  compared(
    asked: Asked,
    id: string,
    { keeps, isChanged }: { keeps: boolean; isChanged: boolean },
    state: Values,
    inputs: Values,
  ): void {
    if (keeps) this.#has(asked, id);
    // An engine that refreshes first compares what is there with what it was: the state is to learn that. What is then done
    // is held against the report.
    const isDeclared = asked.urn === undefined || this.#declared.has(asked.urn);
    if (isChanged && isDeclared) this.#changes(asked, keeps, state, inputs);
  }

  /** Learns the ID that a state has of a resource: links of others lead there, where the report was made without the state. */
  #has({ urn }: Asked, id: string): void {
    if (this.#approved.seal.state !== "unknown" || !this.#find(urn)) return;
    const key = this.#keyOf(urn);
    if (key !== undefined) this.#known.set(key, id);
  }

  /** Checks a change that an engine plans or orders; `keeps` is false where it makes a new thing. */
  #changes(asked: Asked, keeps: boolean, state: Values, inputs: Values): void {
    const found = this.#allowed(asked, keeps ? "update" : "replace");
    this.#assertApplied(asked, found, state);
    this.#assertDeclared(asked, found, inputs);
  }

  /** Right before something is sent. */
  creates(asked: Asked, inputs: Values): void {
    this.#assertDeclared(asked, this.#allowed(asked, "create", "replace"), inputs);
    this.#begin();
  }

  updates(asked: Asked, id: string, state: Values, inputs: Values): void {
    this.#assertSame(asked, id);
    this.#changes(asked, true, state, inputs);
    this.#begin();
  }

  deletes(asked: Asked, id: string, state: Values): void {
    this.#assertSame(asked, id);
    this.#assertApplied(asked, this.#allowed(asked, "delete", "replace"), state);
    this.#begin();
  }

  /** Learns the ID of what was created: links of others lead there. */
  made({ urn }: Asked, id: string): void {
    const key = this.#keyOf(urn);
    if (key !== undefined) this.#made.set(key, id);
  }

  /** The key of a resource in a seal: its type, and its name below the Environment. */
  #keyOf(urn: string | undefined): string | undefined {
    if (urn === undefined || !(urn.split("::")[2] ?? "").split("$").includes("microapps:index:Environment"))
      return undefined;
    const { kind, name } = readName(urn);
    const root = this.#root ?? name.slice(0, Math.max(0, name.indexOf("/")));
    if (!name.startsWith(`${root}/`)) return undefined;
    return `${kind} ${name.slice(root.length + 1)}`;
  }

  #find(urn: string | undefined): SealedResource | undefined {
    const key = this.#keyOf(urn);
    const { resources } = this.#approved.seal;
    const found = key !== undefined && Object.hasOwn(resources, key) ? resources[key] : undefined;
    // A stack that was empty gets one Environment, whatever the program calls it.
    if (found && urn !== undefined) this.#root ??= readName(urn).name.split("/", 1).join();
    return found;
  }

  #allowed(asked: Asked, ...operations: SealedOperation[]): SealedResource {
    const found = this.#find(asked.urn);
    if (!found || !found.operations.some((one) => operations.includes(one))) this.#unlisted(asked, operations[0]);
    return found;
  }

  /** A state is the file of an engine, which a provider never sees. */
  #assertSame(asked: Asked, id: string): void {
    const known = this.#find(asked.urn)?.id;
    if (known !== undefined && known !== id)
      this.#refuse(`${this.#name(asked)} has another ID than in the approved report`);
  }

  #assertApplied(asked: Asked, { from, except = [] }: SealedResource, state: Values): void {
    if (from === undefined || from === digestApplied(asked.resource, state, except)) return;
    this.#refuse(`${this.#name(asked)} is not what it was when the report was made: it was changed since`);
  }

  #assertDeclared(asked: Asked, sealed: SealedResource, inputs: Values): void {
    const { to, except = [] } = sealed;
    if (to === undefined)
      this.#refuse(`${this.#name(asked)} leaves in the approved report, and the program declares it`);
    const idsOf = (key: string): readonly string[] | undefined => {
      const { id, operations = [] } = this.#approved.seal.resources[key] ?? {};
      const made = this.#made.get(key);
      const isKept = !operations.some((one) => one === "create" || one === "replace");
      return [
        ...[made ?? this.#known.get(key) ?? []].flat(),
        ...(id === undefined || (!isKept && made !== undefined) ? [] : [id]),
      ];
    };
    const link = wrongLink(asked.resource, sealed, inputs, idsOf, this.#isUnknown);
    if (link !== undefined) this.#refuse(`${link} of ${this.#name(asked)} is not the one of the approved report`);
    const declared = digestDeclared(asked.resource, inputs, except, this.#context, this.#isUnknown);
    // A value unknown in a preview is compared with the report when it is carried out.
    if (declared !== undefined && declared !== to) {
      const day = "until" in asked.resource.inputs.shape ? ", or somebody's last day has passed since" : "";
      this.#refuse(`${this.#name(asked)} is declared otherwise than in the approved report${day}`);
    }
  }

  #name({ resource, urn }: Asked): string {
    return urn === undefined ? resource.name : describeNamed(readName(urn));
  }

  #unlisted(asked: Asked, operation: SealedOperation | undefined): never {
    this.#refuse(`the approved report has no ${operation ?? "operation"} of ${this.#name(asked)}`);
  }

  #begin(): void {
    if (!this.#approved.use.begin(this.#run))
      this.#refuse("another run was made with this approval: each is for one run");
  }

  #refuse(reason: string): never {
    this.#approved.use.refuse();
    throw new ResourceError(`not approved, and nothing of it was sent: ${reason}. ${again}`);
  }
}
