import { beforeEach, expect, test } from "@jest/globals";
import { type Scene, throughBothKinds } from "../harness/bothKinds.ts";

const kinds = ["Organization", "Team"] as const;
const insertions = { Organization: "insertorganization", Team: "insertteam" } as const;

// By the platform's habit of showing when a thing was made.
for (const tells of ["yes", "no"] as const) {
  throughBothKinds({}, (scene) => {
    beforeEach(() => scene.emulator.behave({ createdAt: tells }));

    const news = async (kind: (typeof kinds)[number]): Promise<Record<string, unknown>> => {
      const given = kind === "Organization" ? { name: "Acme" } : { organizationID: await scene.organization() };
      scene.emulator.saveSnapshot("none");
      return { name: "Crew", ...given, description: "Makes everything." };
    };

    const lost = { kind: "reset", commit: true, count: 1 } as const;
    const killed = { kind: "status", status: 401, commit: true, count: 1 } as const;
    test.each(kinds.flatMap((kind) => [lost, killed].map((fault) => ({ type: kind, ...fault, fault }))))(
      `$type: what was made and not answered ($kind) is gone on with, days later too (createdAt: ${tells})`,
      async ({ type, fault }) => {
        const { host, emulator } = scene;
        const inputs = await news(type);
        const ends = fault === killed ? [{ kind: "status", status: 401, endpoint: "login" } as const] : [];
        emulator.setFaults({ faults: [{ ...fault, endpoint: insertions[type] }, ...ends] });
        const first = await scene.daysAgo(3, () => scene.create(type, inputs).catch(() => undefined));
        expect(first === undefined).toBe(fault === killed);
        emulator.setFaults();
        if (fault === killed) await host.restart();
        const made = first ?? (await scene.create(type, inputs));
        expect(count(scene, type)).toBe(1);
        await settled(scene, type, made);
      },
    );

    test.each(kinds)(`%s: what was there for long is refused with the reason (createdAt: ${tells})`, async (kind) => {
      const { host } = scene;
      const given = await news(kind);
      const old = await scene.daysAgo(3, () => scene.create(kind, given));
      await settled(scene, kind, old);
      await host.restart(); // and the state forgot it
      const why =
        tells === "yes"
          ? "was not made within the last day"
          : "the platform does not tell when it was made, so nobody can know";
      await expect(scene.create(kind, given)).rejects.toThrow(why);
      await host.restart();
      // A refusal is no attempt: it is not taken for one by the next run.
      await expect(scene.create(kind, given)).rejects.toThrow(why);
      await host.restart();
      expect((await scene.create(kind, { ...given, adopt: true })).id).toBe(old.id);
    });
  });
}

/** How many there are. */
const count = ({ emulator }: Scene, kind: (typeof kinds)[number]): number =>
  emulator.differences("none").find(({ table }) => table === tables[kind])?.added.length ?? 0;
const tables = { Organization: "organizations", Team: "teams" } as const;

/** Once the state has it, no file speaks of its creation. */
async function settled(scene: Scene, kind: string, made: { id: string; outputs: Record<string, unknown> }) {
  const seen = await scene.host.read(kind, made.id, made.outputs);
  expect(seen.id).toBe(made.id);
  expect(made.outputs).not.toHaveProperty("found"); // it is the stack's own
  expect((await scene.journal()).files).toEqual([]);
}

throughBothKinds({}, (scene) => {
  beforeEach(() => scene.emulator.behave({ chosenIDs: "ignored" }));

  test.each(kinds)("%s: a platform that gives IDs of its own is not asked twice", async (kind) => {
    const organizationID = await scene.organization("Of a team");
    const inputs = kind === "Team" ? { name: "Crew", organizationID } : { name: "Acme" };
    scene.emulator.saveSnapshot("none");
    scene.emulator.setFaults({ faults: [{ endpoint: insertions[kind], kind: "reset", commit: true, count: 1 }] });
    await expect(scene.create(kind, inputs)).rejects.toThrow("made once more, it might be there twice");
    expect(count(scene, kind)).toBe(1);
  });
});
