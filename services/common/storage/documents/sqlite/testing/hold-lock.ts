/** Takes the lock of the directory named, says so or why not, and holds it until it is killed. */
import { lockDataDirectory } from '../data-directory-lock.ts';

try {
  const lock = await lockDataDirectory(process.argv[2] ?? '');
  process.stdout.write('locked');
  process.stdin.resume().on('end', () => void lock.release());
} catch (error) {
  process.stdout.write(String(error));
}
