/** What an agent may do, in the owner's words: as fields to choose from, and as a line. */
import type { PartOfScope, Scope } from '#rules/scopes.ts';
import { type Html, html } from '#web/html.ts';
import { choiceField } from './form.ts';

export type SiteChoice = { id: string; title: string; hostname: string };

/** The fields of a form that gives access. `chosen` is ticked. */
export function scopeFields(sites: readonly SiteChoice[], chosen: Scope): Html {
  return html`<fieldset>
<legend>What it may do</legend>
${choiceField('radio', 'access', 'write', 'Change and publish websites', chosen.access === 'write')}
${choiceField('radio', 'access', 'read', 'Only read them', chosen.access === 'read')}
</fieldset>
${sites.length > 0 ? siteFields(sites, chosen) : null}
<fieldset>
<legend>Also allow</legend>
${choiceField('checkbox', 'payouts', 'yes', 'Deciding where money goes (payout accounts), and changing your plan', chosen.payouts)}
${choiceField('checkbox', 'account', 'yes', 'Changing the account: e-mail address, other agents’ access, deleting websites', chosen.account)}
</fieldset>`;
}

function siteFields(sites: readonly SiteChoice[], { sites: chosen }: Scope): Html {
  return html`<fieldset class="sites">
<legend>Which websites</legend>
${choiceField('radio', 'sites', 'all', 'All of them, also new ones', chosen === 'all')}
${choiceField('radio', 'sites', 'some', 'Only these', chosen !== 'all')}
<div>${sites.map(({ id, title, hostname }) =>
    choiceField(
      'checkbox',
      'site',
      id,
      html`${title} <small>${hostname}</small>`,
      chosen !== 'all' && chosen.includes(id),
    ),
  )}</div>
</fieldset>`;
}

/** For a form in which the owner chose some sites and ticked none. */
export const noSiteChosen = 'Choose at least one website, or all of them.';

/** One line, such as "all websites · may change them · decides where money goes". */
export function scopeLine({ sites, access, payouts, account }: Scope): string {
  return [
    sites === 'all' ? 'all websites' : counted(sites.length),
    access === 'write' ? `may change ${sites.length === 1 ? 'it' : 'them'}` : 'may only read',
    ...(payouts ? ['decides where money goes'] : []),
    ...(account ? ['may change the account'] : []),
  ].join(' · ');
}

const counted = (count: number) => (count === 1 ? 'one website' : `${count} websites`);

/** What a token lacks, each as the end of "It may also …". `nameOf` gives the site's name. */
export function powersOf(missing: PartOfScope, nameOf: (siteId: string) => string): string[] {
  const { sites, access, payouts, account } = missing;
  return [
    ...(access ? ['change and publish websites'] : []),
    ...(sites === 'all'
      ? ['reach all your websites, also new ones']
      : (sites ?? []).map((id) => `reach ${nameOf(id)}`)),
    ...(payouts ? ['decide where money goes: payout accounts and your plan'] : []),
    ...(account ? ['change the account: e-mail address, other agents’ access, deleting websites'] : []),
  ];
}
