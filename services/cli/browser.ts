import { spawn } from 'node:child_process';
import { platform } from 'node:os';

/** Opens a file or an address in a browser. Where none can be started nothing happens: the caller prints the name too. */
export function openInBrowser(target: string): void {
  const programs: Readonly<Record<string, readonly string[]>> = { darwin: ['open'], win32: ['cmd', '/c', 'start', ''] };
  const [program = 'xdg-open', ...args] = programs[platform()] ?? ['xdg-open'];
  const child = spawn(program, [...args, target], { stdio: 'ignore', detached: true });
  child.on('error', () => undefined);
  child.unref();
}
