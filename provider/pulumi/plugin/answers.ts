import providerProto from "@pulumi/pulumi/proto/provider_pb.js";
import type * as pb from "@pulumi/pulumi/proto/provider_pb.js";
import type { Struct } from "google-protobuf/google/protobuf/struct_pb.js";
import type { Detail } from "./details.ts";

const { PropertyDiff, DiffResponse } = providerProto;

/** The answer to a diff. @param replaces names of properties whose change makes a new thing */
export function answerDiff(changes: readonly Detail[], replaces: readonly string[]): pb.DiffResponse {
  const answer = new DiffResponse().setHasdetaileddiff(true).setReplacesList([...replaces]);
  const { DIFF_SOME, DIFF_NONE } = DiffResponse.DiffChanges;
  answer.setChanges(changes.length > 0 ? DIFF_SOME : DIFF_NONE);
  const names = new Set<string>();
  for (const { path, kind, among } of changes) {
    const name = /^\w+/.exec(path)?.[0] ?? path;
    names.add(name);
    const kinds = replaces.includes(name) ? replacing : updating;
    answer.getDetaileddiffMap().set(path, new PropertyDiff().setKind(kinds[kind]).setInputdiff(among === "inputs"));
  }
  return answer.setDiffsList([...names]);
}

const { Kind: kinds } = PropertyDiff;
const updating = { add: kinds.ADD, delete: kinds.DELETE, update: kinds.UPDATE } as const;
const replacing = { add: kinds.ADD_REPLACE, delete: kinds.DELETE_REPLACE, update: kinds.UPDATE_REPLACE } as const;

/** The answer to a check. */
export function answerCheck(inputs: Struct, problems: readonly string[]): pb.CheckResponse {
  return new providerProto.CheckResponse()
    .setInputs(inputs)
    .setFailuresList(problems.map((reason) => failureOf({ reason })));
}

/** Failure of a check. It names no property, because an engine would print its value. */
export const failureOf = ({ property = "", reason }: { property?: string; reason: string }): pb.CheckFailure =>
  new providerProto.CheckFailure().setProperty(property).setReason(reason);

export const answerList = (items: readonly { id: string; name: string }[]): pb.ListResponse[] =>
  items.map(({ id, name }) => {
    const found = new providerProto.ListResponse.Result().setId(id).setName(name);
    return new providerProto.ListResponse().setResult(found);
  });
