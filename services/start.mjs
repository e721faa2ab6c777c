// Makes loading quick, and says plainly when Node is too old to read TypeScript. Everything works without it, only slower.
import module from 'node:module';
import v8 from 'node:v8';

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

// Node would let each thread's nursery grow to 130 MB and heaps to twice what they hold: half a gigabyte of garbage under
// load, for no gain in time. The first binds worker threads only; this one takes it from its command line (npm start).
v8.setFlagsFromString('--max-semi-space-size=8');
v8.setFlagsFromString('--heap-growing-percent=60');

// A third of the start of 450 modules was looking for files: our own imports name theirs exactly, so nothing need be
// looked for, and of zod's 50 languages nobody reads more than one.
module.registerHooks?.({
  resolve(specifier, context, next) {
    const { parentURL = '' } = context;
    if (specifier.startsWith('.') && specifier.endsWith('.ts')) {
      return { url: new URL(specifier, parentURL).href, format: 'module-typescript', shortCircuit: true };
    }
    const isLanguages = specifier === '../locales/index.js' && parentURL.includes('/node_modules/zod/');
    return next(isLanguages ? '../locales/en.js' : specifier, context);
  },
});
const { run } = await import('./main.ts');
await run(process.argv[2]);
