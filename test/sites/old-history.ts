/** The repository of a website that was made elsewhere. */
import { git, writeObject, writeTree } from '#test/git/git.ts';

/** A history that no rule of a push allows, with commits as old programs wrote them. Its tip has one page. */
export async function oldHistory(path: string): Promise<string> {
  await git(path, ['init', '--quiet', '--initial-branch=main', '.']);
  const blob = await writeObject(path, 'blob', 'x');
  const tree = await writeTree(path, [
    { path: 'package.json', bytes: '{"dependencies":{"left-pad":"1.0.0"}}' },
    { path: 'public/app.js', bytes: 'alert(1)' },
    { path: 'src/assets/photo.jpg', bytes: 'no picture' },
    { path: 'src/content/post.md', bytes: '# Post' },
    { path: 'link', mode: '120000', bytes: '/etc/passwd' },
    { path: 'old-mode', mode: '0100644', oid: blob },
    { path: 'module', mode: '160000', oid: '1'.repeat(40) },
  ]);
  const who = ['Bo <bo@example.com>1 +0000', 'Bo 1 +0000', '<bo@example.com> 1 +0000', 'Bo <bo@example.com> 01 +51800'];
  let parent: string | undefined;
  for (const author of who) {
    const head = `tree ${tree}\n${parent ? `parent ${parent}\n` : ''}author ${author}\ncommitter ${author}\n\nOld\n`;
    parent = await writeObject(path, 'commit', head);
  }
  const page = await writeTree(path, [{ path: 'src/pages/index.astro', bytes: '<h1>Hello</h1>' }]);
  const now = 'Bo <bo@example.com> 1700000000 +0000';
  const tip = `tree ${page}\nparent ${parent}\nauthor ${now}\ncommitter ${now}\n\nNow\n`;
  await git(path, ['update-ref', 'refs/heads/main', await writeObject(path, 'commit', tip)]);
  return await git(path, ['rev-parse', 'main']);
}
