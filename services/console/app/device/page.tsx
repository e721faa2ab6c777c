import { Alert, Button, Group, Paper, Stack, Text, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { engram } from '../api.ts';
import { ago } from '../format.ts';
import { meQuery } from '../queries.ts';
import { PageTitle } from '../shell.tsx';
import { complain, Failed, Waiting } from '../states.tsx';
import { DecisionButtons } from './decision-buttons.tsx';

const route = getRouteApi('/device');

/** Here a person lets a program sign in that shows a code, such as `engram login`. */
export function DevicePage() {
  const { user_code: code } = route.useSearch();
  return (
    <Stack maw={520}>
      <PageTitle title="Sign in a device" />
      {code === undefined ? <CodeForm /> : <Decision key={code} code={code} />}
    </Stack>
  );
}

function CodeForm() {
  const navigate = route.useNavigate();
  const [code, setCode] = useState('');
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (code.trim() !== '') void navigate({ search: { user_code: code.trim() } });
      }}
    >
      <Group align="end">
        <TextInput
          label="Code that the program shows"
          placeholder="BCDF-GHJK"
          autoComplete="off"
          value={code}
          onChange={(event) => setCode(event.currentTarget.value)}
        />
        <Button type="submit">Continue</Button>
      </Group>
    </form>
  );
}

function Decision({ code }: { readonly code: string }) {
  const navigate = route.useNavigate();
  const me = useQuery(meQuery);
  const asked = useQuery({
    queryKey: ['device', code],
    queryFn: () => engram.get('/api/v1/auth/device', { query: { user_code: code } }),
    // A decision must not be asked for again when the window is looked at later.
    staleTime: Number.POSITIVE_INFINITY,
  });
  const [decided, setDecided] = useState<boolean | null>(null);
  const [isSending, setSending] = useState(false);

  const decide = async (approve: boolean) => {
    setSending(true);
    try {
      await engram.post('/api/v1/auth/device', { body: { user_code: code, approve } });
      setDecided(approve);
    } catch (error) {
      complain(error);
    } finally {
      setSending(false);
    }
  };

  if (decided !== null) {
    return (
      <Alert
        color={decided ? 'teal' : 'gray'}
        variant="outline"
        title={decided ? 'Approved' : 'Denied'}
        role="status"
        styles={{ label: { color: 'var(--mantine-color-text)' } }}
      >
        {decided ? 'The program is signed in. You can close this page.' : 'The program was refused.'}
      </Alert>
    );
  }
  if (asked.isPending) return <Waiting />;
  if (asked.isError) {
    return (
      <Stack align="flex-start">
        <Failed error={asked.error} />
        <Button variant="default" onClick={() => void navigate({ search: {} })}>
          Enter another code
        </Button>
      </Stack>
    );
  }
  const { client_id: client, device_name: device, address, created_at: at } = asked.data;
  return (
    <Paper withBorder p="lg">
      <Stack>
        <Text>
          <b>{client}</b>
          {device === null ? null : (
            <>
              {' on '}
              <b>{device}</b>
            </>
          )}{' '}
          asks to act as <b>{me.data?.email}</b>, with all that you may do.
        </Text>
        <Text size="sm" c="dimmed">
          It asked {ago(at)}, from {address}. Name and device are its own words.
        </Text>
        <Text>
          Approve only what you have just started yourself, and only if it shows this code: <b>{code.toUpperCase()}</b>
        </Text>
        <DecisionButtons isSending={isSending} onDecide={(approve) => void decide(approve)} />
      </Stack>
    </Paper>
  );
}
