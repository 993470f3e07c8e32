/** What happens to a form while enquiries to it are on their way: each is whole or was refused. */
import { expect, test } from 'vitest';
import { type Answer, errorOf } from '#test/api/fixture.ts';
import { untilBlocked } from '#test/stack/until.ts';
import { ada, useForms } from './fixture.ts';

const { fixture, ask, owner } = await useForms({ FRONTAGE_RATE_SCALE: '1000' });

/** Sends from several visitors, each with a solution of its own, while `acts` are done. */
async function meanwhile(formId: string, acts: () => Promise<unknown>, count = 24): Promise<Answer[]> {
  const solutions = await Promise.all(Array.from({ length: count }, () => ask.solved(formId)));
  const body = (altcha: string) => ({ body: { ...ada, altcha } });
  const sends = solutions.map((altcha) => ask.visitor('POST', `/f/${formId}`, body(altcha)));
  await acts();
  return await Promise.all(sends);
}

const outcomes = (answers: Answer[]) =>
  new Set(answers.map((answer) => (answer.status === 200 ? 'taken' : errorOf(answer).code)));
const taken = (answers: Answer[]) => answers.filter(({ status }) => status === 200).map(({ body }) => body.id);

test('while a form is toggled, accepted submissions are stored, and refusals say why', async () => {
  const form = await ask.newForm(owner);
  const answers = await meanwhile(form.id, async () => {
    for (const act of ['disable', 'enable', 'disable', 'enable', 'disable'])
      expect((await owner.call('POST', `/v1/forms/${form.id}/${act}`)).status).toBe(200);
  });
  expect(['taken', 'forms_disabled']).toEqual(expect.arrayContaining([...outcomes(answers)]));
  const kept = (await ask.submissions(owner, form.id, '?limit=100')).body.items.map(({ id }: { id: string }) => id);
  expect(kept.sort()).toEqual(taken(answers).sort());
  const late = await ask.visitor('POST', `/f/${form.id}`, { body: ada });
  expect(errorOf(late).code).toBe('forms_disabled');
});

test('while a form is removed, a submission is deleted with it or not found', async () => {
  const form = await ask.newForm(owner);
  const answers = await meanwhile(form.id, async () => {
    expect((await owner.call('DELETE', `/v1/forms/${form.id}?confirm=true`)).status).toBe(200);
  });
  expect(['taken', 'not_found']).toEqual(expect.arrayContaining([...outcomes(answers)]));
  expect(await fixture.deps.em().execute('select 1 from submission where form_id = ?', [form.id])).toEqual([]);
});

test('while a site is archived, a submission is accepted completely or refused', async () => {
  const form = await ask.newForm(owner);
  const answers = await meanwhile(form.id, async () => {
    expect((await owner.call('POST', `/v1/sites/${form.site.id}/archive`)).status).toBe(200);
  });
  expect(['taken', 'site_archived']).toEqual(expect.arrayContaining([...outcomes(answers)]));
  const [row] = await fixture.deps
    .em()
    .execute<{ count: string }[]>('select count(*) from submission where form_id = ?', [form.id]);
  expect(Number(row?.count)).toBe(taken(answers).length);
});

test('one solution sent twenty times concurrently counts once', async () => {
  const form = await ask.newForm(owner);
  const altcha = await ask.solved(form.id);
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => ask.visitor('POST', `/f/${form.id}`, { body: { ...ada, altcha } })),
  );
  expect(taken(answers)).toHaveLength(1);
  expect(outcomes(answers)).toEqual(new Set(['taken', 'not_a_person']));
});

test.each([
  ['disabled', `status = 'disabled'`, 'forms_disabled'],
  [
    'given another field',
    `fields = fields || '[{"name":"room","label":"Room","kind":"text","required":true}]'`,
    'invalid_fields',
  ],
])('a submission during which its form is %s follows the form’s final state', async (_what, change, code) => {
  const form = await ask.newForm(owner);
  const altcha = await ask.solved(form.id);
  let sent: Promise<Answer> | undefined;
  await fixture.deps.em().transactional(async (tx) => {
    await tx.execute('select 1 from form where id = ? for update', [form.id]);
    sent = ask.visitor('POST', `/f/${form.id}`, { body: { ...ada, altcha } });
    await untilBlocked(fixture.deps);
    await tx.execute(`update form set ${change} where id = ?`, [form.id]);
  });
  expect(errorOf((await sent) as Answer).code).toBe(code);
  expect((await ask.submissions(owner, form.id)).body.items).toEqual([]);
});
