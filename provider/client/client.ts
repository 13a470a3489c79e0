import type { AnswerOf, EndpointName, RequestOf } from "../contract/endpoints.ts";
export interface CallOptions {
  signal?: AbortSignal;
  timeout?: number;
}
export type Client = { [N in EndpointName]: (request: RequestOf<N>, options?: CallOptions) => Promise<AnswerOf<N>> } & {
  close(): Promise<void>;
};
