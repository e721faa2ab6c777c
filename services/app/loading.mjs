import module from 'node:module';
import { fileURLToPath } from 'node:url';
import v8 from 'node:v8';

const MEDIA_TYPES = new URL('../common/platform/http/media-types.ts', import.meta.url).href;

/** Bounds garbage, and finds code compiled. Compiled code belongs to the flags, so whoever compiles ahead calls this too. */
export function tuneRuntime() {
  // Node would let each thread's nursery grow to 130 MB and heaps to twice what they hold: half a gigabyte of garbage under
  // load, for no gain in time. The first binds worker threads only; this one takes it from its command line (npm start).
  v8.setFlagsFromString('--max-semi-space-size=8');
  v8.setFlagsFromString('--heap-growing-percent=60');

  // A start that finds its code compiled takes half the time. Not in the shared temporary directory, Node's default: who can
  // write there could put code into this process. Node keeps versions, users and flags apart, hence after the flags. Worker
  // threads take the place from the environment only.
  process.env.NODE_COMPILE_CACHE ??= fileURLToPath(new URL('../../node_modules/.cache/engram', import.meta.url));
  module.enableCompileCache(process.env.NODE_COMPILE_CACHE);
}

/** A third of the start of 450 modules was looking for files, and some large ones that are found are not wanted. */
export function shortenLoading() {
  let firstAsker;
  module.registerHooks({
    resolve(specifier, context, next) {
      const { parentURL = '' } = context;
      // Our own imports name their files exactly: nothing need be looked for.
      if (specifier.startsWith('.') && specifier.endsWith('.ts')) {
        return { url: new URL(specifier, parentURL).href, format: 'module-typescript', shortCircuit: true };
      }
      // Of zod's 50 languages nobody reads more than one.
      if (specifier === '../locales/index.js' && parentURL.includes('/node_modules/zod/')) {
        return next('../locales/en.js', context);
      }
      if (specifier === 'mime-types') {
        // Asked on behalf of the first who wanted it, as the package is none of ours.
        if (parentURL === MEDIA_TYPES) return next(specifier, { ...context, parentURL: firstAsker });
        firstAsker ??= parentURL;
        return { url: MEDIA_TYPES, format: 'module-typescript', shortCircuit: true };
      }
      return next(specifier, context);
    },
  });
}
