import { defineOperation } from '../define.ts';
import { Type } from '../type.ts';

export const calSwitch = defineOperation({
  name: 'cal_switch',
  summary: 'Turn CAL, or its statements that change something, off and on while the server runs; tells how they are.',
  needs: 'admin',
  on: 'memory',
  reach: 'deployment',
  mutates: true,
  onUnknown: 'refuse',
  input: Type.Object({ enabled: Type.Optional(Type.Boolean()), tier1Enabled: Type.Optional(Type.Boolean()) }),
  output: Type.Object({ enabled: Type.Boolean(), tier1Enabled: Type.Boolean() }),
  exec: { command: 'cal_switch' },
  async run({ enabled, tier1Enabled }, { services, principal }) {
    const { cal } = services;
    const isAsking = enabled === undefined && tier1Enabled === undefined;
    const switches = isAsking
      ? cal.switches
      : await cal.turn(
          {
            ...(enabled === undefined ? {} : { enabled }),
            ...(tier1Enabled === undefined ? {} : { tierOneEnabled: tier1Enabled }),
          },
          principal.actor,
        );
    return { enabled: switches.enabled, tier1Enabled: switches.tierOneEnabled };
  },
});
