/** The groups of the API's operations, as people read them. The first word of an operation's name is its key. */

export type TagGroup = {
  name: string;
  /** The last part of its page's address. */
  slug: string;
  /** By the first word of the operations' names. */
  tags: Readonly<Record<string, string>>;
};

export const tagGroups: readonly TagGroup[] = [
  {
    name: 'Sites and people',
    slug: 'sites',
    tags: {
      site: 'Sites',
      template: 'Templates',
      redirects: 'Redirects',
      collaborator: 'Collaborators',
      invitation: 'Invitations',
    },
  },
  {
    name: 'Source and pictures',
    slug: 'source',
    tags: { source: 'Source', package: 'Packages', asset: 'Assets', upload: 'Upload links', photo: 'Stock photos' },
  },
  {
    name: 'Publishing and review',
    slug: 'publishing',
    tags: {
      deployment: 'Deployments',
      check: 'Checks',
      comparison: 'Comparisons',
      preview: 'Previews',
      comment: 'Comments',
      review: 'Review links',
      sketch: 'Sketches',
    },
  },
  {
    name: 'Forms and bookings',
    slug: 'visitors',
    tags: {
      form: 'Forms',
      submission: 'Enquiries',
      bookable: 'Timetables',
      booking: 'Bookings',
      offer: 'Available times',
      calendar_feed: 'Calendar feeds',
    },
  },
  {
    name: 'Payments and plans',
    slug: 'payments',
    tags: {
      payment: 'Payments',
      payout: 'Payout accounts',
      payout_offer: 'Payout offers',
      payout_agreement: 'Payout account of a site',
      billing: 'Plans',
    },
  },
  { name: 'Domains', slug: 'domains', tags: { domain: 'Domains', record: 'DNS records' } },
  {
    name: 'Accounts and agents',
    slug: 'accounts',
    tags: {
      access: 'Access requests',
      account: 'Account',
      token: 'Tokens',
      inbox: 'Inbox',
      skill: 'Skill',
      feedback: 'Feedback',
      health: 'Health',
    },
  },
];

const names = new Map(tagGroups.flatMap(({ tags }) => Object.entries(tags)));

/** The tag's name for people. Throws at startup for a word that no group has. */
export function tagName(word: string): string {
  const name = names.get(word);
  if (name === undefined) throw new Error(`no group of api/docs/tags.ts has the operations of ${word}`);
  return name;
}
