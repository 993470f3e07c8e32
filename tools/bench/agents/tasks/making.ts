/** A site is made, changed, shown and put back. `before` is the number of calls that an agent took for it in 2026-11-22's review. */
import { from, type Step, site, type Task } from '#tools/bench/agents/task.ts';

const publish = (scope: 'site' | 'posts' = 'site'): Step => ({
  operation: 'site.publish',
  arguments: { id: site, scope },
});
const commit = (message: string, ...changes: object[]): Step => ({
  operation: 'source.commit',
  arguments: { id: site, message, changes },
});
const edit = (path: string, find: string, replace: string) => ({ path, edits: [{ find, replace }] });
const post = (title: string, text: string, extra = '') =>
  `---\ntitle: ${title}\ndescription: About ${title}\ndate: 2026-11-01\n${extra}---\n\n${text}\n`;
const thirty = Array.from({ length: 30 }, (_, n) => ({
  path: `src/content/posts/walk-${n + 1}.md`,
  text: post(`Walk ${n + 1}`, `The text of walk ${n + 1}.`, 'tags: [walking]\n'),
}));

export const making: Task[] = [
  {
    name: 'Make a site from a template, and put it online',
    before: 3,
    steps: [
      { operation: 'template.list' },
      {
        operation: 'site.create',
        arguments: { name: from('given', 'name'), title: 'Agents at work', template: 'blog' },
        as: 'site',
      },
      publish(),
    ],
    seen: [{ page: '/', has: 'Agents at work' }],
  },
  {
    name: 'Say what the site is about',
    steps: [
      commit(
        'Say what it is about',
        edit('src/site.json', '[[One sentence: what you write about]]', 'Walks near the sea.'),
      ),
      publish(),
    ],
    seen: [{ page: '/', has: 'Walks near the sea.', lacks: 'what you write about' }],
  },
  {
    name: 'Write the page about the owner',
    steps: [
      commit('Say who writes', {
        path: 'src/pages/about.astro',
        edits: [
          { find: '[[Who writes here, and about what]]', replace: 'Jonas walks, and writes it down.' },
          { find: '      <p>[[How often a new post appears, and what a reader can expect]]</p>\n', replace: '' },
        ],
      }),
      publish(),
    ],
    seen: [{ page: '/about/', has: 'Jonas walks', lacks: '[[' }],
  },
  {
    name: 'Write thirty posts',
    before: 5,
    steps: [commit('Write thirty posts', ...thirty), publish('posts')],
    seen: [
      { page: '/posts/walk-30/', has: 'The text of walk 30.' },
      { page: '/tags/walking/', has: 'Walk 1' },
      { page: '/rss.xml', has: 'Walk 30' },
    ],
  },
  {
    name: 'Keep a post as a draft',
    steps: [
      commit('Begin a post', { path: 'src/content/posts/later.md', text: post('Later', 'Not yet.', 'draft: true\n') }),
      publish('posts'),
    ],
    seen: [{ page: '/posts/later/', status: 404 }],
  },
  {
    name: 'Publish the draft',
    steps: [commit('Publish it', edit('src/content/posts/later.md', 'draft: true\n', '')), publish('posts')],
    seen: [{ page: '/posts/later/', has: 'Not yet.' }],
  },
  {
    name: 'Correct a word in a post',
    steps: [
      commit('Correct a word', edit('src/content/posts/walk-7.md', 'text of walk', 'story of walk')),
      publish('posts'),
    ],
    seen: [{ page: '/posts/walk-7/', has: 'The story of walk 7.' }],
  },
  {
    name: 'Change the colours of the whole site',
    before: 8,
    steps: [
      {
        operation: 'source.files',
        arguments: { id: site, path: ['src/styles/global.css', 'src/pages/favicon.svg.ts'] },
        as: 'styles',
      },
      commit(
        'Change the accent',
        edit(
          'src/styles/global.css',
          '--accent: light-dark(#2b3fd6, #9dabff);',
          '--accent: light-dark(#a3324a, #ff9db0);',
        ),
        edit('src/pages/favicon.svg.ts', '#2b3fd6', '#a3324a'),
      ),
      publish(),
    ],
    seen: [{ page: '/favicon.svg', has: '#a3324a' }],
  },
  {
    name: 'Show a change before it is live',
    steps: [
      {
        operation: 'source.commit',
        arguments: {
          id: site,
          branch: 'preview/1',
          message: 'Try a title',
          changes: [edit('src/site.json', 'Walks near the sea.', 'Walks near the river.')],
        },
      },
      { operation: 'preview.build', arguments: { id: site, slot: 1 }, as: 'preview' },
    ],
    seen: [
      { page: '/', host: '{preview.address}', has: 'Walks near the river.' },
      { page: '/', has: 'Walks near the sea.' },
    ],
  },
  {
    name: 'Publish what the preview shows',
    steps: [{ operation: 'preview.publish', arguments: { id: site, slot: 1 } }],
    seen: [{ page: '/', has: 'Walks near the river.' }],
  },
  {
    name: 'Roll back to the version before',
    before: 2,
    steps: [
      { operation: 'deployment.list', arguments: { id: site, limit: 5 }, as: 'versions' },
      { operation: 'deployment.restore', arguments: { id: from('versions', 'items', 2, 'id') } },
    ],
    seen: [{ page: '/', has: 'Walks near the sea.' }],
  },
  {
    name: 'Go forward again',
    steps: [{ operation: 'deployment.restore', arguments: { id: from('versions', 'items', 0, 'id') } }],
    seen: [{ page: '/', has: 'Walks near the river.' }],
  },
  {
    name: 'Fix a build that fails',
    steps: [
      commit('Break it', { path: 'src/pages/broken.astro', text: '<div><p>Never</div>\n{nothing.at.all}\n' }),
      { ...publish(), refused: 'build_failed' },
      commit('Fix it', { path: 'src/pages/broken.astro', text: '<p>Fixed</p>\n' }),
      publish(),
    ],
    seen: [{ page: '/broken/', has: 'Fixed' }],
  },
  {
    name: 'Move an old address',
    steps: [
      {
        operation: 'redirects.set',
        arguments: { id: site, rules: [{ from: '/blog/*', to: '/posts/:splat', status: 301 }] },
      },
    ],
    seen: [{ page: '/blog/walk-1/', status: 301, location: '/posts/walk-1/' }],
  },
  {
    name: 'Add a page in a second language',
    before: 10,
    steps: [
      commit('Add a German page', {
        path: 'src/pages/de/index.astro',
        text: '<!doctype html><html lang="de"><head><title>Wege am Meer</title><link rel="alternate" hreflang="en" href="/" /></head><body><h1>Wege am Meer</h1></body></html>\n',
      }),
      publish(),
    ],
    seen: [{ page: '/de/', has: 'lang="de"' }],
  },
];
