import * as pulumi from "@pulumi/pulumi";
import { AsyncLocalStorage } from "node:async_hooks";
import type { Door } from "../provider/pulumi/configuration/configuration.ts";
import { chosenDoor } from "./door.ts";
import type { Announced } from "./siblings.ts";

/** What the resources of one program share. */
interface Program {
  /** The way into the provider that its resources take. */
  readonly door: Door;
  /** Its seeds so far: none is sent before those that are constructed in the same turn are here. */
  seeds: Announced[];
}

// The plugin constructs components of one program, or of several, beside each other.
const programs = new AsyncLocalStorage<Program>();
const own: Program = {
  get door() {
    return chosenDoor();
  },
  seeds: [],
};

/** The program that a resource is constructed for: this process, unless it is the plugin. */
export const program = (): Program => programs.getStore() ?? own;

/** Runs the part of a program that the plugin carries out. */
export const throughPlugin = <Result>(work: () => Result): Result => programs.run({ door: "plugin", seeds: [] }, work);

/**
 * A resource's own URN, as a promise: as an output it would make the resource depend on its parent, and a dependency on
 * a component is one on everything inside of it, siblings that wait for this resource included.
 */
export const plainUrn = (name: string, type: string, parent: pulumi.Resource | undefined): Promise<string> =>
  new Promise((resolve) => void pulumi.createUrn(name, type, parent).apply(resolve));
