/** The warning of a version whose pages send to forms that nobody receives: told as it is now, whenever the version was published. */
import { afterAll, expect, test } from 'vitest';
import { challengeEnv, forms } from '#test/forms/fixture.ts';
import { createFixture } from './fixture.ts';
import { sender } from './sending.ts';

const fixture = await createFixture(challengeEnv);
afterAll(() => fixture.close());
const ask = forms(fixture);
const owner = await fixture.newCaller();
const { publish } = sender(owner);
const page = (body: string) => `<!doctype html><title>Page</title>${body}`;
const { baseUrl } = fixture.config;
const warningsOf = async (id: string) => (await owner.call('GET', `/v1/deployments/${id}`)).body.warnings;

test('forms that submit nowhere or to a disabled form are warned about', async () => {
  const site = await ask.newSite(owner);
  const [live, shut] = [await ask.newForm(owner, {}, site), await ask.newForm(owner, { name: 'Shut' }, site)];
  await owner.call('POST', `/v1/forms/${shut.id}/disable`);
  const stranger = await fixture.newCaller();
  const foreign = await ask.newForm(stranger);
  const version = await publish(site, {
    'index.html':
      page(`<form method="post" action="${live.action_url}"></form><frontage-form form="${live.id}"></frontage-form>
      <form action="/search"></form><form></form><form action="https://elsewhere.example/f/form_1"></form>`),
    'shut.html': page(`<form method="post" action="${shut.action_url}"></form>`),
    'foreign.html': page(`<form><button formaction="${foreign.action_url}">x</button></form>`),
    'gone.html': page('<frontage-form form="form_00000000000000000000000000"></frontage-form>'),
    'own.html': page(`<form method="post" action="/f/${live.id}"></form>`),
    'base.html': page(`<base href="${baseUrl}/x/"><form action="../f/${shut.id}"></form>`),
  });
  const { items, counts } = await warningsOf(version.id);
  expect(items.map(({ kind, path, target }: Record<string, string>) => [kind, path, target])).toEqual([
    ['dead_form', 'base.html', shut.id],
    ['dead_form', 'foreign.html', foreign.id],
    ['dead_form', 'gone.html', 'form_00000000000000000000000000'],
    ['dead_form', 'own.html', `/f/${live.id}`],
  ]);
  expect(items[0]).toMatchObject({ count: 2, places: ['base.html', 'shut.html'] });
  expect(counts.dead_form).toBe(5);
  expect(items[1].message).toBe(
    `foreign.html contains a form that submits to ${foreign.id}, which is not a form on this site.`,
  );
  expect(items[0].message).toContain('is disabled');
});

test('a form disabled after its page’s publish is warned about until enabled', async () => {
  const site = await ask.newSite(owner);
  const form = await ask.newForm(owner, {}, site);
  const { id } = await publish(site, { 'index.html': page(`<form action="${form.action_url}" method="post"></form>`) });
  const count = async () => (await warningsOf(id)).counts.dead_form;
  expect(await count()).toBe(0);
  await owner.call('POST', `/v1/forms/${form.id}/disable`);
  expect(await count()).toBe(1);
  await owner.call('POST', `/v1/forms/${form.id}/enable`);
  expect(await count()).toBe(0);
  await owner.call('DELETE', `/v1/forms/${form.id}?confirm=true`);
  expect(await count()).toBe(1);
});

test('a page with too many forms is checked up to the limit', async () => {
  const site = await ask.newSite(owner);
  const many = Array.from({ length: 500 }, (_, n) => `<frontage-form form="form_${n}"></frontage-form>`).join('');
  const odd =
    '<form action="http://["></form><frontage-form form="\u202e__proto__"></frontage-form><form action="%zz/f/%">';
  const version = await publish(site, { 'a.html': page(many), 'b.html': page(odd) });
  const { items, counts } = await warningsOf(version.id);
  expect(counts.dead_form).toBe(51);
  expect(JSON.stringify(items)).not.toContain('\u202e');
});
