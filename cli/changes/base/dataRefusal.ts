/** Why a command goes no further, or leaves something, in one sentence with what to do. */
export class DataRefusal extends Error {
  override readonly name: string = "DataRefusal";
}
