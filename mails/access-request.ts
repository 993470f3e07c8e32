import { type WrittenMail, write } from './layout.ts';

/** To the owner whom an agent asks. It holds no code: only who sees the agent's screen can approve. */
export function accessRequest(data: { link: string; agentName: string; askedFrom: string }): WrittenMail {
  return write({
    subject: 'An agent asks for access to your websites',
    preview: 'Approve with the code that your agent shows you, or refuse.',
    heading: 'An agent asks for access to your websites',
    blocks: [
      'It gave this name, and its request came from this network address:',
      {
        facts: [
          ['Agent', data.agentName],
          ['Asked from', data.askedFrom],
        ],
      },
      { button: { label: 'Approve or refuse', url: data.link } },
      'To approve, you type the code of eight letters that your agent shows you. The request is open for 15 minutes.',
    ],
    footer: 'You did not ask an agent to do this? Then refuse, or do nothing: without the code nobody gets in.',
  });
}
