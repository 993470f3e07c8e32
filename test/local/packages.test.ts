import { expect, test } from 'vitest';
import { installCommand, type Program } from '#tools/local/packages.ts';
import { onlyPrograms, sudo } from './machine-programs.ts';

const pebble = 'go install github.com/letsencrypt/pebble/v2/cmd/pebble@latest';

test.each<[string[], Program[], string]>([
  [['apt-get'], ['powerdns', 'pebble'], `${sudo}apt install pdns-server pdns-backend-sqlite3 pebble`],
  [['dnf', 'go'], ['powerdns', 'pebble'], `${sudo}dnf install pdns pdns-backend-sqlite && ${pebble}`],
  [['apk'], ['pebble'], `${sudo}apk add go && ${pebble}`],
  [['pacman', 'go'], ['pebble'], pebble],
  [['zypper'], ['bubblewrap'], `${sudo}zypper install bubblewrap`],
  [['brew'], ['powerdns'], 'brew install pdns'],
  [['brew'], ['docker'], 'brew install colima docker'],
])('with %j, the command for %j is one line of that manager', (managers, programs, command) => {
  onlyPrograms('sudo', ...managers);
  expect(installCommand(programs)).toBe(command);
});

test('without a known package manager the programs are named', () => {
  onlyPrograms('sudo');
  expect(installCommand(['powerdns', 'pebble'])).toBe('install powerdns and pebble with your system’s package manager');
});

test('a user without sudo reads that root has to run the command', () => {
  onlyPrograms('apt-get');
  const asRoot = sudo === '' ? '' : '(as root) ';
  expect(installCommand(['bubblewrap'])).toBe(`${asRoot}apt install bubblewrap`);
});
