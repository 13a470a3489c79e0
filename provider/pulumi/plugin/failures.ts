import type { ServerErrorResponse } from "@grpc/grpc-js";
import providerProto from "@pulumi/pulumi/proto/provider_pb.js";
import statusProto from "@pulumi/pulumi/proto/status_pb.js";
import anyProto from "google-protobuf/google/protobuf/any_pb.js";
import type { Struct } from "google-protobuf/google/protobuf/struct_pb.js";
import { messageOf } from "../../../machine/failures.ts";
import { statusCodes } from "../../../machine/statusCodes.ts";
import { withCodes } from "../../../platform/messages/text.ts";

/**
 * A thing that exists although a create or update failed: an engine saves it, with the inputs that it has, and goes on
 * from there.
 */
interface Unfinished {
  id: string;
  outputs: Struct;
  refreshBeforeUpdate: boolean;
}

/** A failure of which something exists all the same. */
export class UnfinishedFailure extends Error {
  readonly unfinished: Unfinished;
  constructor(message: string, unfinished: Unfinished) {
    super(message);
    this.unfinished = unfinished;
  }
}

/** Bytes of a message as gRPC escapes it: with more in a header many ends of a connection close it. */
const maxBytes = 32_768;

function fitting(text: string): string {
  const whole = text.toWellFormed();
  let cut = whole.slice(0, maxBytes).toWellFormed();
  while (encodeURI(cut).length > maxBytes) cut = cut.slice(0, Math.floor(cut.length * 0.8)).toWellFormed();
  return cut.length < whole.length ? `${cut}…` : whole;
}

/** An error as gRPC carries it. */
export async function statusOf(error: unknown): Promise<Partial<ServerErrorResponse>> {
  const details = fitting(withCodes(messageOf(error)));
  return error instanceof UnfinishedFailure
    ? describeUnfinished(error, details)
    : { code: statusCodes.UNKNOWN, details };
}

/** The error with what exists, as an engine reads it. */
export async function describeUnfinished(
  error: UnfinishedFailure,
  details: string,
): Promise<Partial<ServerErrorResponse>> {
  const code = statusCodes.UNKNOWN;
  const { id, outputs, refreshBeforeUpdate } = error.unfinished;
  const failed = new providerProto.ErrorResourceInitFailed()
    .setId(id)
    .setProperties(outputs)
    .setReasonsList([details])
    .setRefreshBeforeUpdate(refreshBeforeUpdate);
  const detail = new anyProto.Any();
  detail.pack(failed.serializeBinary(), "pulumirpc.ErrorResourceInitFailed");
  const status = new statusProto.Status().setCode(code).setMessage(details).setDetailsList([detail]);
  const { Metadata } = (await import("@grpc/grpc-js")).default;
  const metadata = new Metadata();
  metadata.set("grpc-status-details-bin", Buffer.from(status.serializeBinary()));
  return { code, details, metadata };
}
