import { accessRequestMs, period } from '#rules/periods.ts';
import { type WrittenMail, write } from './layout.ts';

/** To the owner. It contains no code, so that only a person who sees the agent's screen can approve. */
export function accessRequest(data: { link: string; agentName: string; askedFrom: string }): WrittenMail {
  return write({
    subject: 'An agent is requesting access to your websites',
    preview: 'Approve it with the code that your agent shows you, or refuse it.',
    heading: 'An agent is requesting access to your websites',
    blocks: [
      'The agent gave this name, and its request came from this network address:',
      {
        facts: [
          ['Agent', data.agentName],
          ['Network address', data.askedFrom],
        ],
      },
      { button: { label: 'Approve or refuse', url: data.link } },
      `To approve, enter the eight-letter code that your agent shows you. The request expires after ${period(accessRequestMs)}.`,
    ],
    footer:
      'Didn’t ask an agent to do this? Refuse the request or ignore this e-mail: without the code, the agent gets no access.',
  });
}
