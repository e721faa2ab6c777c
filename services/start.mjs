// Turns on Node's compile cache before anything else is loaded, and says plainly when Node is too old to read TypeScript.
import module from 'node:module';

const [major = 0] = process.versions.node.split('.').map(Number);
if (major < 24) {
  process.stderr.write(
    `Engram runs on Node 24; this is ${process.version}. On Linux and Windows npm ci brings it along: start with "npm start". Elsewhere install Node 24.\n`,
  );
  process.exit(1);
}
module.enableCompileCache?.();
// Worker threads inherit the cache only this way.
process.env.NODE_COMPILE_CACHE ??= module.getCompileCacheDir?.() ?? '';
const { run } = await import('./main.ts');
await run(process.argv[2]);
