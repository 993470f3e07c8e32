/** The groups of the API's operations, as people read them. The first word of an operation's name is its key. */

export type Tag = { name: string; about: string };

export type TagGroup = {
  name: string;
  /** The last part of its page's address. */
  slug: string;
  /** By the first word of the operations' names. */
  tags: Readonly<Record<string, Tag>>;
};

export const tagGroups: readonly TagGroup[] = [
  {
    name: 'Sites and people',
    slug: 'sites',
    tags: {
      site: { name: 'Sites', about: 'Websites: their names, addresses, settings and states.' },
      template: { name: 'Templates', about: 'What a new site can begin as.' },
      redirects: {
        name: 'Redirects',
        about: 'The redirects and rewrites of a site that apply beside those of its output.',
      },
      collaborator: { name: 'Collaborators', about: 'Accounts that work on a site of another account.' },
      invitation: { name: 'Invitations', about: 'Invitations to work on a site.' },
    },
  },
  {
    name: 'Source and pictures',
    slug: 'source',
    tags: {
      source: {
        name: 'Source',
        about: 'The files of a site in its two git repositories: reading, commits and passwords for git.',
      },
      package: { name: 'Packages', about: 'The packages that builds can import.' },
      asset: { name: 'Assets', about: 'Files of a site, each by its path.' },
      upload: { name: 'Upload links', about: 'Links with which a person sends photos to a site without an account.' },
      photo: { name: 'Stock photos', about: 'Free photos that can be put into a site.' },
    },
  },
  {
    name: 'Publishing and review',
    slug: 'publishing',
    tags: {
      deployment: {
        name: 'Deployments',
        about: 'Versions of a site: builds and uploaded output, their logs, warnings, files and pictures.',
      },
      check: { name: 'Checks', about: 'Checks of the pages of a version: contrast, layout, texts, links.' },
      comparison: { name: 'Comparisons', about: 'What two versions of a page look like, and where they differ.' },
      preview: { name: 'Previews', about: 'Versions for review, in numbered slots, at addresses of their own.' },
      comment: { name: 'Comments', about: 'Comments that people leave on the pages of a preview or sketch.' },
      review: { name: 'Review links', about: 'Links with which people without an account review a preview.' },
      sketch: { name: 'Sketches', about: 'Sets of first designs from which an owner chooses one.' },
    },
  },
  {
    name: 'Forms and bookings',
    slug: 'visitors',
    tags: {
      form: { name: 'Forms', about: 'Forms for visitors, embedded in pages.' },
      submission: { name: 'Enquiries', about: 'What visitors sent with a form.' },
      bookable: { name: 'Timetables', about: 'What visitors can book, and when.' },
      booking: { name: 'Bookings', about: 'Bookings of visitors and of the owner.' },
      offer: { name: 'Available times', about: 'The times that a visitor can book.' },
      calendar_feed: { name: 'Calendar feeds', about: 'Addresses at which calendar programs read bookings.' },
    },
  },
  {
    name: 'Payments and plans',
    slug: 'payments',
    tags: {
      payment: { name: 'Payments', about: 'Payments of visitors: links, refunds, receipts.' },
      payout: { name: 'Payout accounts', about: 'Accounts at the payment provider that receive the payments.' },
      payout_offer: { name: 'Payout offers', about: 'Offers to receive the payments of another account’s sites.' },
      payout_agreement: {
        name: 'Payout account of a site',
        about: 'Which payout account receives the payments of a site.',
      },
      billing: { name: 'Plans', about: 'The plan of the account, its limits and its invoices.' },
    },
  },
  {
    name: 'Domains',
    slug: 'domains',
    tags: {
      domain: { name: 'Domains', about: 'Domains of the account: ownership, certificates, sites.' },
      record: { name: 'DNS records', about: 'The DNS records of a domain that is hosted here.' },
    },
  },
  {
    name: 'Accounts and agents',
    slug: 'accounts',
    tags: {
      access: { name: 'Access requests', about: 'How a program without a token requests one.' },
      account: { name: 'Account', about: 'The account: its address, limits and history.' },
      token: { name: 'Tokens', about: 'Tokens of the account and what each may do.' },
      inbox: { name: 'Inbox', about: 'What waits for the owner or the agent.' },
      skill: { name: 'Skill', about: 'Instructions for agents, as files.' },
      feedback: { name: 'Feedback', about: 'Messages to the operator of the platform.' },
      health: { name: 'Health', about: 'Whether the service can answer.' },
    },
  },
];

const names = new Map(tagGroups.flatMap(({ tags }) => Object.entries(tags)));

/** The names of a group's tags. */
export const tagNamesOf = ({ tags }: TagGroup): string[] => Object.values(tags).map(({ name }) => name);

/** The tag's name for people. Throws at startup for a word that no group has. */
export function tagName(word: string): string {
  const name = names.get(word)?.name;
  if (name === undefined) throw new Error(`no group of api/docs/tags.ts has the operations of ${word}`);
  return name;
}
