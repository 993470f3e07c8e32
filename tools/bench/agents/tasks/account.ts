/** Access, people, design directions, and the end of a site. */
import { from, site, type Task } from '#tools/bench/agents/task.ts';

export const account: Task[] = [
  {
    name: 'Say what waits today',
    steps: [{ operation: 'inbox.read' }],
    seen: [{ answer: 'inbox.read', has: 'photo' }],
  },
  {
    name: 'Say what the account allows',
    steps: [{ operation: 'account.read' }],
    seen: [{ answer: 'account.read', has: '{given.owner}' }],
  },
  {
    name: 'Make a second token with an end',
    before: 2,
    steps: [
      {
        operation: 'token.create',
        arguments: { name: 'A second program', expires_at: from('given', 'later') },
        as: 'token',
      },
    ],
    seen: [{ token: '{token.access_token}', status: 200 }],
  },
  {
    name: 'Revoke the second token',
    before: 2,
    steps: [{ operation: 'token.revoke', arguments: { id: from('token', 'id') } }],
    seen: [{ token: '{token.access_token}', status: 401 }],
  },
  {
    name: 'Invite somebody to work on the site',
    steps: [{ operation: 'collaborator.invite', arguments: { id: site, email: from('given', 'friend') } }],
    seen: [{ mailTo: '{given.friend}', has: '{site.name}' }],
  },
  {
    name: 'Show three directions of a design',
    steps: [
      {
        operation: 'sketch.create',
        arguments: {
          title: 'Three directions',
          directions: ['Map', 'Diary', 'Postcard'].map((name) => ({
            name,
            html: `<!doctype html><title>${name}</title><h1>${name}</h1>`,
          })),
        },
        as: 'sketch',
      },
    ],
    seen: [{ url: '{sketch.url}', has: 'Postcard' }],
  },
  {
    name: 'Take the directions down',
    steps: [{ operation: 'sketch.delete', arguments: { id: from('sketch', 'id') } }],
    seen: [{ url: '{sketch.url}', status: 404 }],
  },
  {
    name: 'Report a fault of the platform, and read what became of it',
    steps: [
      { operation: 'feedback.create', arguments: { kind: 'missing', message: 'A page of my guided walks by month.' } },
      { operation: 'feedback.list' },
    ],
    seen: [{ answer: 'feedback.list', has: 'guided walks by month' }],
  },
  {
    name: 'Say who changed the site, and when',
    steps: [{ operation: 'site.history', arguments: { id: site, limit: 50 } }],
    seen: [{ answer: 'site.history', has: 'site.published' }],
  },
  {
    name: 'Rename the site',
    steps: [{ operation: 'site.update', arguments: { id: site, name: from('given', 'renamed') } }],
    seen: [
      { page: '/', host: '{given.renamed}', has: 'Agents at work' },
      { page: '/', host: '{given.name}', status: 308 },
    ],
  },
  {
    name: 'Close the site',
    before: 1,
    steps: [{ operation: 'site.archive', arguments: { id: site } }],
    seen: [{ page: '/', host: '{given.renamed}', status: 410 }],
  },
  {
    name: 'Open the site again',
    before: 1,
    steps: [{ operation: 'site.unarchive', arguments: { id: site } }],
    seen: [{ page: '/', host: '{given.renamed}', has: 'Agents at work' }],
  },
];
