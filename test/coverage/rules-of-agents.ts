/** Rules for agents: their journeys, the client, the skill, tools, and what operators see of them. */
import { rowsOf } from './row.ts';

export const rulesOfAgents = rowsOf('rule', 'agents', {
  'an agent that was told an address alone makes, shows, changes and publishes a site with the client': [
    'acceptance/newcomer',
    'the agent adds a form and timetable, previews them, answers a comment, and publishes',
  ],
  'the same agent does all of that, and brings a domain, with tools alone': [
    'acceptance/mcp',
    'the client adds a domain, names the DNS records to set, and attaches it',
  ],
  'a gap in the network ends no publish that the client follows': [
    'skill/following',
    'after a network gap a publish’s output continues after its last part',
  ],
  'the client distinguishes waiting for a person from work in progress': ['skill/following', 'waiting for a person'],
  'what the skill tree names is one of the API, the client, the templates': ['skill/truth', 'every field, code, tool'],
  'feedback is listed in pages by an operator': ['operator/lists', 'every list ends and names its next page, and'],
  'an operator takes down a sketch that was reported': ['operator/lists', 'a reported sketch is removed by its id or'],
  'what is made from the description gets no answer that is not in it': ['campaigns/api', 'calls with a token for'],
  'an operator blocks a site, and its owner can read the reason': ['operator/operator', 'a blocked site returns'],
  'the client trusts a server with its own site and nothing else': ['skill/hostile-server', 'no redirect is followed'],
  'the account names the version of the skill tree': ['skill/skill', 'the tree’s version is in the account, and'],
  'tools of what is off are not listed': ['mcp/tools', 'tools of disabled capabilities are not listed, and calling'],
  'an OAuth client gets access only through its owner’s consent page': [
    'oauth/wishes',
    'no browser is redirected to a client before sign-in, even for an error',
  ],
  'a refresh token is good once, and who brings it again ends the access': ['oauth/attacks', 'a refresh token works'],
  'a connector keeps its place in the cap on tokens while it can renew its own': ['oauth/attacks', 'a client keeps'],
  'long work is told to who asks for progress, and a process that is to end answers with what it knows': [
    'mcp/following',
    'a process that shuts down returns its last state, and another one continues',
  ],
  'what is asked in turn of what a call has made gets no answer that is not in the description': [
    'campaigns/api',
    'calls on resources that earlier calls created or listed return only described responses',
  ],
  'the access token of a connector is listed as an ordinary token': [
    'oauth/connecting',
    'the owner’s list has one token for each client, and revoking it ends access',
  ],
  'what a tool answers is what its call answers': ['mcp/calls', 'the tool for %s returns what the call returns'],
});
