import { defined } from '../../../engine/base/defined.ts';
import { defineOperation } from '../define.ts';
import { Type } from '../type.ts';

export const calSwitch = defineOperation({
  name: 'cal_switch',
  summary: 'Turn CAL, or its statements that change something, on or off while the server runs.',
  description: 'Without arguments it changes nothing.',
  example: { tier1_enabled: false },
  needs: 'admin',
  on: 'memory',
  reach: 'deployment',
  mutates: true,
  onUnknown: 'refuse',
  input: Type.Object({
    enabled: Type.Optional(Type.Boolean({ description: 'Turns CAL on or off; absent leaves it as it is.' })),
    tier1Enabled: Type.Optional(
      Type.Boolean({
        description: 'Turns the CAL statements that change something on or off; absent leaves them as they are.',
      }),
    ),
  }),
  output: Type.Object({
    enabled: Type.Boolean({ description: 'Whether CAL is on.' }),
    tier1Enabled: Type.Boolean({ description: 'Whether the CAL statements that change something are on.' }),
  }),
  exec: { command: 'cal_switch' },
  async run({ enabled, tier1Enabled }, { services, principal }) {
    const { cal } = services;
    const isAsking = enabled === undefined && tier1Enabled === undefined;
    const switches = isAsking
      ? cal.switches
      : await cal.turn(
          defined({
            enabled,
            tierOneEnabled: tier1Enabled,
          }),
          principal.actor,
        );
    return { enabled: switches.enabled, tier1Enabled: switches.tierOneEnabled };
  },
});
