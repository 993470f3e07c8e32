/** Who may read a version, see its pages, and read what checks found. */
import type { AccessFixture } from './access-fixture.ts';
import type { Entry } from './access-table.ts';

const drawn = async (fixture: AccessFixture) => ({ id: (await fixture.drawnVersion()).id });
const compared = async (fixture: AccessFixture) => ({ id: (await fixture.drawnVersion()).comparison });
const checked = async (fixture: AccessFixture) => ({ id: (await fixture.drawnVersion()).check });

export const versionCalls: Record<string, Entry> = {
  'GET /v1/deployments/{id}': { rule: 'members' },
  'GET /v1/deployments/{id}/log': { rule: 'members' },
  'GET /v1/deployments/{id}/files': { rule: 'members' },
  'GET /v1/deployments/{id}/screenshot': { rule: 'members', path: drawn },
  'POST /v1/deployments/{id}/checks': { rule: 'members', body: {}, path: drawn },
  'POST /v1/deployments/{id}/comparisons': { rule: 'members', body: {}, path: drawn },
  'GET /v1/comparisons/{id}': { rule: 'members', path: compared },
  'GET /v1/comparisons/{id}/pictures/{number}': {
    rule: 'members',
    path: async (fixture) => ({ ...(await compared(fixture)), number: '0' }),
  },
  'GET /v1/checks/{id}': { rule: 'members', path: checked },
  'GET /v1/checks/{id}/crops/{number}': {
    rule: 'members',
    path: async (fixture) => ({ ...(await checked(fixture)), number: '0' }),
  },
};
