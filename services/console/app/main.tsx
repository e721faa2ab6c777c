import '@mantine/core/styles.css';
import '@mantine/notifications/styles.css';
import '@mantine/dropzone/styles.css';
import './style.css';
import './icon.svg';
import { createTheme, MantineProvider } from '@mantine/core';
import { ModalsProvider } from '@mantine/modals';
import { Notifications } from '@mantine/notifications';
import { QueryCache, QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { NotAuthenticated } from '../../client/index.ts';
import { meQuery } from './queries.ts';
import { router } from './router.tsx';

/** Styles that are made while the page is open carry it, or the policy of the page refuses them. */
const nonce = document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? '';
// The name by which the package that locks scrolling behind a dialog looks for it.
Object.assign(globalThis, { __webpack_nonce__: nonce });

const client: QueryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5000,
      // The client of the API sends again what may be sent again.
      retry: false,
    },
  },
  queryCache: new QueryCache({
    onError(error, query) {
      // The session has ended in the meantime: the shell asks to sign in again.
      const isEnded = error instanceof NotAuthenticated && query.queryKey[0] !== 'me';
      if (isEnded) void client.invalidateQueries({ queryKey: meQuery.queryKey });
    },
  }),
});

const theme = createTheme({
  primaryColor: 'indigo',
  // White text on it has a contrast of at least 4.5.
  primaryShade: 8,
  defaultRadius: 'md',
  fontFamily: 'system-ui, -apple-system, "Segoe UI", sans-serif',
  cursorType: 'pointer',
  respectReducedMotion: true,
  // Dimmed text stays readable on grey ground.
  autoContrast: true,
  components: {
    // A state is read, not cut off.
    Badge: { styles: { root: { minWidth: 'max-content' } } },
    // Where a table is wider than the screen, the arrow keys move it.
    TableScrollContainer: { defaultProps: { scrollAreaProps: { viewportProps: { tabIndex: 0 } } } },
    Notification: {
      defaultProps: { closeButtonProps: { 'aria-label': 'Close the message' } },
      // The text below the title is dimmed otherwise, with too little contrast.
      styles: { description: { color: 'var(--mantine-color-text)' } },
    },
  },
});

const root = document.getElementById('root');
if (root !== null) {
  createRoot(root).render(
    <StrictMode>
      <MantineProvider theme={theme} defaultColorScheme="auto" getStyleNonce={() => nonce}>
        <QueryClientProvider client={client}>
          <ModalsProvider labels={{ confirm: 'Continue', cancel: 'Cancel' }}>
            <Notifications position="top-right" />
            <RouterProvider router={router} />
          </ModalsProvider>
        </QueryClientProvider>
      </MantineProvider>
    </StrictMode>,
  );
}
