/** Calls at the same moment. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Answer, Caller } from '#test/api/fixture.ts';
import { callWith } from '#test/api/fixture.ts';
import { sized } from '#test/campaigns/size.ts';
import { answered, createPayoutFixture, outcome, type PayoutFixture, tally } from './fixture.ts';

const openings = sized({ one: 9, short: 30, long: 200 });
/** How often each offer that was opened is accepted. */
const acceptances = sized({ one: 2, short: 2, long: 4 });
const rounds = sized({ one: 6, short: 30, long: 300 });
const timeoutMs = 600_000;

let fixture: PayoutFixture;
let second: string;
beforeAll(async () => {
  fixture = await createPayoutFixture();
  // Two API processes on one database.
  second = (await fixture.start()).url;
});
afterAll(() => fixture?.close());

/** Every other call goes to the second process. */
const spread = (caller: Caller, at: number): Caller =>
  at % 2 === 0 ? caller : { ...caller, call: callWith(second, caller.token) };
const standing = (siteId: string) =>
  fixture.deps.em().execute('select id from payout_agreement where site_id = ? and ended_at is null', [siteId]);
const openOffers = (siteId: string) =>
  fixture.deps.em().execute(`select id from payout_offer where site_id = ? and status = 'open'`, [siteId]);

test(
  'many concurrent offers and acceptances on a site make one agreement',
  async () => {
    const { owner, payee, site, account } = await fixture.newPair();
    const seen = new Set<string>();
    const accepted: Promise<Answer>[] = [];
    const open = async (at: number) => {
      const fromSite = at % 3 === 0;
      const answer = fromSite
        ? await fixture.offerFromSite(spread(owner, at), site.id, account.id)
        : await fixture.offerFromAccount(spread(payee, at), account.id, fixture.hostOf(site));
      if (answer.status === 200) {
        seen.add(answer.body.id);
        for (let more = 0; more < acceptances; more++) {
          accepted.push(fixture.accept(spread(fromSite ? payee : owner, at + more), answer.body.id));
        }
      }
      return answer;
    };
    const opened = await Promise.all(Array.from({ length: openings }, (_, at) => open(at)));
    const answers = await Promise.all(accepted);
    const words = tally(opened.map(outcome));
    expect(Object.keys(words).filter((word) => !['open', 'invalid_payout_offer'].includes(word))).toEqual([]);
    expect(words.open).toBe(seen.size);
    const told = tally(answers.map(outcome));
    expect(told.accepted).toBe(1);
    expect(
      Object.keys(told).filter(
        (word) => !['accepted', 'offer_already_accepted', 'invalid_payout_offer'].includes(word),
      ),
    ).toEqual([]);
    expect(await standing(site.id)).toHaveLength(1);
    expect(await openOffers(site.id)).toHaveLength(0);
    console.info(`${openings} openings: ${JSON.stringify(words)}; acceptances: ${JSON.stringify(told)}`);
  },
  timeoutMs,
);

test(
  'of many concurrent acceptances one makes the agreement',
  async () => {
    const { owner, payee, site, account } = await fixture.newPair();
    const offer = answered(await fixture.offerFromSite(owner, site.id, account.id));
    const answers = await Promise.all(
      Array.from({ length: openings }, (_, at) => fixture.accept(spread(payee, at), offer.id)),
    );
    expect(tally(answers.map(outcome))).toEqual({ accepted: 1, offer_already_accepted: openings - 1 });
    expect(await standing(site.id)).toHaveLength(1);
  },
  timeoutMs,
);

test(
  'payments opened during attaching and offering neither block nor fail',
  async () => {
    const { owner, site, payee, account } = await fixture.newPair();
    const own = await fixture.newAccount(owner);
    answered(await fixture.attach(owner, site.id, own.id));
    const body = { amount: 1250, currency: 'EUR' };
    const acts = [
      (at: number) => spread(owner, at).call('POST', `/v1/sites/${site.id}/payments`, { body }),
      (at: number) => fixture.attach(spread(owner, at), site.id, own.id),
      (at: number) => fixture.offerFromAccount(spread(payee, at), account.id, fixture.hostOf(site)),
    ];
    const answers = await Promise.all(Array.from({ length: 3 * openings }, (_, at) => (acts[at % 3] ?? acts[0])?.(at)));
    const told = tally(answers.map((answer) => outcome(answer as Answer)));
    expect(told).toEqual({ open: openings, active: openings, invalid_payout_offer: openings });
  },
  timeoutMs,
);

test(
  'acceptance, withdrawal, attaching and removal agree on the result',
  async () => {
    const won: string[] = [];
    const { owner, payee } = await fixture.newPair();
    for (let round = 0; round < rounds; round++) {
      const [site, account] = [await fixture.newSite(owner), await fixture.newAccount(payee)];
      const own = await fixture.newAccount(owner);
      const offer = answered(await fixture.offerFromSite(owner, site.id, account.id));
      const rival = [
        () => fixture.endOffer(owner, offer.id),
        () => fixture.attach(owner, site.id, own.id),
        () => payee.call('DELETE', `${fixture.accounts}/${account.id}`),
      ][round % 3] as () => Promise<Answer>;
      const acts = [() => fixture.accept(spread(payee, 1), offer.id), rival];
      if (round % 2 === 0) acts.reverse();
      const told = await Promise.all(acts.map((act) => act()));
      if (round % 2 === 0) told.reverse();
      const [accepted, other] = told.map(outcome);
      const rows = await standing(site.id);
      const status = (await fixture.read(owner, offer.id)).body.status;
      const kinds = ['taking back', 'attaching', 'removal'];
      won.push(`${kinds[round % 3]}: ${accepted}, ${other}`);
      expect(await openOffers(site.id)).toHaveLength(0);
      expect(status).toBe(accepted === 'accepted' ? 'accepted' : 'withdrawn');
      if (round % 3 === 0) {
        expect([accepted, other]).toEqual(
          accepted === 'accepted' ? ['accepted', 'offer_already_accepted'] : ['invalid_payout_offer', 'withdrawn'],
        );
        expect(rows).toHaveLength(accepted === 'accepted' ? 1 : 0);
      }
      if (round % 3 === 1) expect(rows).toHaveLength(1);
      if (round % 3 === 2) expect(rows).toHaveLength(0);
      await payee.call('DELETE', `${fixture.accounts}/${account.id}`);
      await owner.call('DELETE', `${fixture.accounts}/${own.id}`);
    }
    console.info(JSON.stringify(tally(won)));
  },
  timeoutMs,
);

test(
  'of concurrent attachments of different accounts one succeeds, and the others are refused',
  async () => {
    const { owner, payee, account } = await fixture.newPair();
    const own = [await fixture.newAccount(owner), await fixture.newAccount(owner)];
    const won: string[] = [];
    for (let round = 0; round < rounds; round++) {
      const site = await fixture.newSite(owner);
      const offer = answered(await fixture.offerFromSite(owner, site.id, account.id));
      const acts = own.map(
        ({ id }, at) =>
          () =>
            fixture.attach(spread(owner, at), site.id, id),
      );
      acts.splice(round % 3, 0, () => fixture.accept(spread(payee, round), offer.id));
      const told = (await Promise.all(acts.map((act) => act()))).map(outcome);
      const [accepted = ''] = told.splice(round % 3, 1);
      const landed = [accepted, ...told].filter((word) => word === 'accepted' || word === 'active');
      expect({ round, landed, rows: (await standing(site.id)).length }).toMatchObject({ landed: [landed[0]], rows: 1 });
      expect(['accepted', 'invalid_payout_offer']).toContain(accepted);
      for (const word of told) expect(['active', 'invalid_payout_account']).toContain(word);
      expect(await openOffers(site.id)).toHaveLength(0);
      won.push(`accepted: ${accepted}, attached: ${told.sort().join(' and ')}`);
    }
    console.info(JSON.stringify(tally(won)));
  },
  timeoutMs,
);
