import module from 'node:module';

const MEDIA_TYPES = new URL('./common/http/media-types.ts', import.meta.url).href;

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
