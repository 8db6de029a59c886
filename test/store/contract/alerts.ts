// Alerts: raised once in a window, sent by one of many, and gone with their account.

import { expect } from "bun:test";
import { OWNER_MAILS_MAX, UNVERIFIED_MAILS_MAX } from "../../../src/store/work/alerts.ts";
import { type Contract, made, type World } from "./world.ts";

const HOUR_MS = 3_600_000;
const HOLD_MS = 60_000;

const alert = ({ clock }: World, event: string, more: { accountId?: string; body?: string } = {}) => ({
  event,
  accountId: more.accountId ?? null,
  body: more.body ?? `{"of":"${event}"}`,
  targets: more.accountId === undefined ? (["webhook"] as const) : (["owner", "webhook"] as const),
  expiresAtMs: clock.now() + HOUR_MS,
});

const alerts: Contract<"alerts"> = {
  putAlert: {
    "basics: once for each target, and not at all for an account that is gone": async (world) => {
      const accountId = await world.account();
      expect(await world.verbs.alerts.putAlert(alert(world, "a", { accountId }))).toBe(2);
      expect(await world.verbs.alerts.putAlert(alert(world, "a", { accountId }))).toBe(0);
      const both = [await world.verbs.alerts.claimAlert(HOLD_MS), await world.verbs.alerts.claimAlert(HOLD_MS)];
      const own = { event: "a", body: '{"of":"a"}', tries: 1, owner: { username: "ann", email: "ann@x.example" } };
      expect(both).toMatchObject([
        { ...own, target: "owner" },
        { ...own, target: "webhook" },
      ]);
      expect(await world.verbs.alerts.putAlert(alert(world, "b", { accountId: "none" }))).toBe(0);
    },
    "concurrency: once, of any number at once": async (world) => {
      const other = await world.again();
      const put = [world.verbs, other, world.verbs, other].map((verbs) => verbs.alerts.putAlert(alert(world, "a")));
      expect((await Promise.all(put)).sort()).toEqual([0, 0, 0, 1]);
    },
    "time: again when the window has ended, also while the earlier one waits": async (world) => {
      await world.verbs.alerts.putAlert(alert(world, "a"));
      world.clock.advance(HOUR_MS - 1);
      expect(await world.verbs.alerts.putAlert(alert(world, "a", { body: "2" }))).toBe(0);
      world.clock.advance(1);
      expect(await world.verbs.alerts.putAlert(alert(world, "a", { body: "2" }))).toBe(1);
      expect(await world.verbs.alerts.claimAlert(HOLD_MS)).toMatchObject({ body: "2", tries: 1 });
      expect(await world.verbs.alerts.claimAlert(HOLD_MS)).toBeUndefined();
    },
    "cascade: it goes with its account": async (world) => {
      const accountId = await world.account();
      await world.verbs.alerts.putAlert(alert(world, "a", { accountId }));
      await world.verbs.accounts.deleteAccount(accountId);
      expect(await world.verbs.alerts.claimAlert(HOLD_MS)).toBeUndefined();
    },
    "paging: no more mails in a day than an owner may get, fewer while the address is not verified": async (world) => {
      for (const [emailVerified, most] of [
        [true, OWNER_MAILS_MAX],
        [false, UNVERIFIED_MAILS_MAX],
      ] as const) {
        const name = `v${emailVerified}`;
        const own = { username: name, email: `${name}@x.example`, tier: "free" as const, emailVerified };
        const { id: accountId } = made(await world.verbs.accounts.createAccount(own));
        const put = (n: number) => world.verbs.alerts.putAlert(alert(world, `${name}${n}`, { accountId }));
        for (let n = 0; n < most; n++) expect(await put(n)).toBe(2);
        expect(await put(most)).toBe(1);
        world.clock.advance(24 * HOUR_MS);
        expect(await put(most + 1)).toBe(2);
      }
    },
  },
  claimAlert: {
    "basics: the one that waits longest first": async (world) => {
      await world.verbs.alerts.putAlert(alert(world, "b"));
      world.clock.advance(1);
      await world.verbs.alerts.putAlert(alert(world, "a"));
      expect((await world.verbs.alerts.claimAlert(HOLD_MS))?.event).toBe("b");
      expect((await world.verbs.alerts.claimAlert(HOLD_MS))?.event).toBe("a");
    },
    "concurrency: one of many gets it": async (world) => {
      const other = await world.again();
      await world.verbs.alerts.putAlert(alert(world, "a"));
      const claims = await Promise.all(
        [world.verbs, other, world.verbs, other].map((verbs) => verbs.alerts.claimAlert(HOLD_MS)),
      );
      expect(claims.filter((one) => one !== undefined)).toHaveLength(1);
    },
    "time: again when the claim was not settled": async (world) => {
      await world.verbs.alerts.putAlert(alert(world, "a"));
      expect(await world.verbs.alerts.claimAlert(HOLD_MS)).toMatchObject({ tries: 1 });
      world.clock.advance(HOLD_MS - 1);
      expect(await world.verbs.alerts.claimAlert(HOLD_MS)).toBeUndefined();
      world.clock.advance(1);
      expect(await world.verbs.alerts.claimAlert(HOLD_MS)).toMatchObject({ tries: 2 });
    },
  },
  settleAlert: {
    "basics: sent again at a time, or never; only by the claim that holds": async (world) => {
      await world.verbs.alerts.putAlert(alert(world, "a"));
      const first = (await world.verbs.alerts.claimAlert(0))!;
      const second = (await world.verbs.alerts.claimAlert(HOLD_MS))!;
      expect(await world.verbs.alerts.settleAlert(first, null)).toBe(false);
      expect(await world.verbs.alerts.settleAlert(second, world.clock.now() + 1000)).toBe(true);
      expect(await world.verbs.alerts.claimAlert(HOLD_MS)).toBeUndefined();
      world.clock.advance(1000);
      const third = (await world.verbs.alerts.claimAlert(HOLD_MS))!;
      expect(await world.verbs.alerts.settleAlert(third, null)).toBe(true);
      expect(await world.verbs.alerts.settleAlert(third, null)).toBe(false);
      world.clock.advance(HOUR_MS / 2);
      expect(await world.verbs.alerts.claimAlert(HOLD_MS)).toBeUndefined();
    },
    "concurrency: once": async (world) => {
      const other = await world.again();
      await world.verbs.alerts.putAlert(alert(world, "a"));
      const claim = (await world.verbs.alerts.claimAlert(HOLD_MS))!;
      const settled = [world.verbs, other].map((verbs) => verbs.alerts.settleAlert(claim, null));
      expect((await Promise.all(settled)).sort()).toEqual([false, true]);
    },
  },
  nextAlertAt: {
    "basics: of those that wait": async (world) => {
      expect(await world.verbs.alerts.nextAlertAt()).toBeUndefined();
      await world.verbs.alerts.putAlert(alert(world, "a"));
      expect(await world.verbs.alerts.nextAlertAt()).toBe(world.clock.now());
      const claim = (await world.verbs.alerts.claimAlert(HOLD_MS))!;
      expect(await world.verbs.alerts.nextAlertAt()).toBe(world.clock.now() + HOLD_MS);
      await world.verbs.alerts.settleAlert(claim, null);
      expect(await world.verbs.alerts.nextAlertAt()).toBeUndefined();
    },
  },
  deleteExpiredAlerts: {
    "time: those whose window has ended, unless they wait": async (world) => {
      await world.verbs.alerts.putAlert(alert(world, "a"));
      const claim = (await world.verbs.alerts.claimAlert(HOLD_MS))!;
      await world.verbs.alerts.putAlert(alert(world, "b"));
      await world.verbs.alerts.settleAlert(claim, null);
      expect(await world.verbs.alerts.deleteExpiredAlerts()).toBe(0);
      world.clock.advance(HOUR_MS);
      expect(await world.verbs.alerts.deleteExpiredAlerts()).toBe(1);
      expect((await world.verbs.alerts.claimAlert(HOLD_MS))?.event).toBe("b");
    },
  },
};

/** Its cases. */
export const alertsContract = { alerts };
