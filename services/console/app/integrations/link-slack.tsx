import { Alert, Button, Group, Paper, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { engram } from '../api.ts';
import { meQuery } from '../queries.ts';
import { PageTitle } from '../shell.tsx';
import { Failed } from '../states.tsx';

const route = getRouteApi('/link-slack');

/** Here a person confirms that somebody in Slack, who wrote `/cognee-link`, is themselves. */
export function LinkSlackPage() {
  const { code = '' } = route.useSearch();
  const me = useQuery(meQuery);
  const [state, setState] = useState<'asked' | 'sending' | 'linked'>('asked');
  const [error, setError] = useState<Error | null>(null);
  const [team = '', member = ''] = code.split(':');
  const link = async () => {
    setState('sending');
    setError(null);
    try {
      await engram.post('/api/v1/slack/link', { body: { code } });
      setState('linked');
    } catch (failure) {
      setError(failure as Error);
      setState('asked');
    }
  };
  return (
    <Stack maw={520}>
      <PageTitle title="Link Slack" />
      {state === 'linked' ? (
        <Alert color="green" variant="outline">
          It is linked. /cognee-ask and /cognee-remember in Slack use your memory from now on; disconnect it under
          Integrations.
        </Alert>
      ) : (
        <Paper withBorder p="lg">
          <Stack>
            <Text style={{ overflowWrap: 'anywhere' }}>
              The member <b>{member}</b> of the Slack team <b>{team}</b> asks to use the memory of{' '}
              <b>{me.data?.email ?? ''}</b>.
            </Text>
            <Text size="sm" c="dimmed">
              Whoever that is can ask your memory and add to it. Go on only if you wrote /cognee-link in Slack yourself
              just now.
            </Text>
            {error === null ? null : <Failed error={error} />}
            <Group>
              <Button onClick={() => void link()} loading={state === 'sending'} disabled={code === ''}>
                Link it
              </Button>
            </Group>
          </Stack>
        </Paper>
      )}
    </Stack>
  );
}
