import type { ReadResourceRequest, RegisterResourceRequest } from "@pulumi/pulumi/proto/resource_pb.js";
import type { SourcePosition } from "@pulumi/pulumi/proto/source_pb.js";
import path from "node:path";
import { fileURLToPath } from "node:url";
import type { Goal } from "../deployment/goal.ts";

/** Finds where in the program a request comes from, relative to `root`, the folder of Pulumi.yaml. */
export function positionsOf(
  request: RegisterResourceRequest | ReadResourceRequest,
  root: string,
): Pick<Goal, "sourcePosition" | "stackTrace"> {
  const frames = request.getStacktrace()?.getFramesList() ?? [];
  return {
    sourcePosition: written(request.getSourceposition(), root),
    stackTrace: frames.map((frame) => written(frame.getPc(), root)),
  };
}

function written(position: SourcePosition | undefined, root: string): string {
  const uri = position?.getUri() ?? "";
  if (position === undefined || !uri.startsWith("file:")) return "";
  const name = `${root}\n${uri}`;
  const relative = relatives.get(name) ?? relativeTo(root, uri);
  relatives.set(name, relative);
  const column = position.getColumn() === 0 ? "" : `,${position.getColumn()}`;
  return `project:///${relative}#${position.getLine()}${column}`;
}

/** The paths of files so far: each resource comes through the same few. */
const relatives = new Map<string, string>();

const relativeTo = (root: string, uri: string): string =>
  path.relative(root, fileURLToPath(uri)).split(path.sep).map(escapedLikeGo).join("/");

/** Escapes a part of a path as Go does in URLs, so that a position does not look changed to the CLI. */
const escapedLikeGo = (segment: string): string =>
  encodeURIComponent(segment)
    .replace(/%(?:24|26|2B|2C|3A|3B|3D|40)/g, decodeURIComponent)
    .replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);
