import type { status } from "@grpc/grpc-js";

/** Statuses of gRPC. Its library is loaded by what listens or connects alone. */
export const statusCodes: Record<"CANCELLED" | "UNKNOWN" | "UNIMPLEMENTED" | "UNAVAILABLE", status> = {
  ...{ CANCELLED: 1, UNKNOWN: 2, UNIMPLEMENTED: 12, UNAVAILABLE: 14 },
};
