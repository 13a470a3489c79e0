import * as pulumi from "@pulumi/pulumi";

/** Registrations of programs, in this order. */
export const registered: pulumi.runtime.MockResourceArgs[] = [];

/** Registers what programs declare, without an engine: outputs are the inputs. */
export const mockEngine = (): Promise<void> =>
  pulumi.runtime.setMocks({
    newResource: (resource) => {
      registered.push(resource);
      return { id: `id of ${resource.name}`, state: resource.inputs as object }; // inputs of a mock are untyped
    },
    call: () => ({}),
  });
