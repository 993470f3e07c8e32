/**
 * System calls from a site: Node has none, but a process may write to its own machine code. For x86-64 and glibc.
 *
 * `call(number, ...arguments)` answers what the kernel answers: a negative number is an error. A text becomes a pointer to it.
 */
export const nativeCalls = `
const memory = fs.openSync('/proc/self/mem', 'r+');
const [, from, offset, library] = /^([0-9a-f]+)-[0-9a-f]+ r-xp ([0-9a-f]+) .* (\\/\\S*libc\\.so\\.6)$/m.exec(fs.readFileSync('/proc/self/maps', 'latin1'));
const place = parseInt(from, 16) - parseInt(offset, 16) + findSymbol(fs.readFileSync(library), 'getppid');
const before = Buffer.alloc(1024);
fs.readSync(memory, before, 0, before.length, place);

/** The value of a symbol: .dynsym is a section of type 11, and its names are in the section it links to. */
function findSymbol(elf, name) {
  const section = (at) => Number(elf.readBigUInt64LE(0x28)) + at * elf.readUInt16LE(0x3a);
  const field = (at, where) => Number(elf.readBigUInt64LE(section(at) + where));
  for (let i = 0; i < elf.readUInt16LE(0x3c); i++) {
    if (elf.readUInt32LE(section(i) + 4) !== 11) continue;
    const names = field(elf.readUInt32LE(section(i) + 0x28), 0x18);
    for (let at = field(i, 0x18); at < field(i, 0x18) + field(i, 0x20); at += 24) {
      const start = names + elf.readUInt32LE(at);
      if (elf.toString('latin1', start, start + name.length + 1) === name + '\\0') return Number(elf.readBigUInt64LE(at + 8));
    }
  }
}

function call(number, ...given) {
  const code = Buffer.alloc(256);
  const texts = [];
  let end = 256;
  const values = given.map((value) => {
    if (typeof value !== 'string') return BigInt(value);
    const text = Buffer.from(value + '\\0', 'latin1');
    texts.push(text);
    end += text.length;
    return BigInt(place + end - text.length);
  });
  // mov rax, number; mov rdi, …; rsi; rdx; r10; r8; r9; syscall; ret
  const registers = ['48b8', '48bf', '48be', '48ba', '49ba', '49b8', '49b9'];
  let at = 0;
  for (const [i, move] of registers.entries()) {
    at += code.write(move, at, 'hex');
    at = code.writeBigUInt64LE(BigInt.asUintN(64, [BigInt(number), ...values][i] ?? 0n), at);
  }
  code.write('0f05c3', at, 'hex');
  const all = Buffer.concat([code, ...texts]);
  fs.writeSync(memory, all, 0, all.length, place);
  const answer = process.ppid;
  fs.writeSync(memory, before, 0, all.length, place);
  return answer;
}
`;
