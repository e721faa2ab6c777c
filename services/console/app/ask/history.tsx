import { Button, Drawer, NavLink, Stack, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { engram } from '../api.ts';
import { ago } from '../format.ts';
import { IconHistory } from '../icons.ts';
import { datasetsQuery, useMe } from '../queries.ts';
import { LinkButton } from '../shell.tsx';
import { Failed, Waiting } from '../states.tsx';

/** The last conversations of the person, to go on with. */
export function History() {
  const [isOpen, { open, close }] = useDisclosure();
  return (
    <>
      <Button variant="default" size="sm" leftSection={<IconHistory size={16} />} onClick={open}>
        Conversations
      </Button>
      <Drawer
        opened={isOpen}
        onClose={close}
        title="Conversations"
        closeButtonProps={{ 'aria-label': 'Close the conversations' }}
      >
        <Conversations onChosen={close} />
      </Drawer>
    </>
  );
}

function Conversations({ onChosen }: { onChosen(): void }) {
  const me = useMe();
  const navigate = useNavigate({ from: '/ask' });
  const { session: current } = useSearch({ from: '/ask' });
  const datasets = useQuery(datasetsQuery).data ?? [];
  const sessions = useQuery({
    queryKey: ['sessions', 'conversations'],
    queryFn: () => engram.get('/api/v1/sessions', { query: { range: 'all', limit: 100, labels: true } }),
  });
  if (sessions.isPending) return <Waiting />;
  if (sessions.isError) return <Failed error={sessions.error} onRetry={() => void sessions.refetch()} />;
  const own = sessions.data.sessions.filter(({ user_id: user, label }) => user === me?.id && label);
  return (
    <Stack gap="xs">
      {own.length === 0 ? <Text c="dimmed">No conversations yet. The first question begins one.</Text> : null}
      <nav aria-label="Conversations">
        {own.map(({ session_id: session, dataset_id: id, label, last_activity_at: at }) => {
          const dataset = datasets.find((each) => each.id === id);
          return (
            <NavLink
              key={session}
              component="button"
              active={session === current}
              styles={{ description: { color: 'var(--mantine-color-text)' } }}
              aria-current={session === current ? 'page' : undefined}
              label={label}
              description={`${dataset === undefined ? '' : `${dataset.name} · `}${ago(at)}`}
              onClick={() => {
                void navigate({ search: (all) => ({ ...all, session, dataset: dataset?.id }) });
                onChosen();
              }}
            />
          );
        })}
      </nav>
      <LinkButton to="/sessions" variant="subtle">
        All sessions
      </LinkButton>
    </Stack>
  );
}
