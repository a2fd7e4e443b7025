// Colours of the drawing: WebGL knows neither tokens nor `light-dark()`.

export interface Colours {
  readonly text: string;
  readonly soft: string;
  readonly ground: string;
  readonly line: string;
  /** Of lines so many that they make a surface. */
  readonly thinLine: string;
  readonly start: string;
  readonly near: string;
  readonly far: string;
}

/** The colours of the theme, as `#rrggbb`. */
export function coloursOf(element: HTMLElement): Colours {
  const probe = document.createElement('span');
  element.append(probe);
  const named = (token: string): string => {
    probe.style.color = `var(${token})`;
    return hex(getComputedStyle(probe).color);
  };
  const colours = {
    text: named('--text'),
    soft: named('--soft'),
    ground: named('--raised'),
    line: named('--line-strong'),
    thinLine: named('--line'),
    start: named('--bad'),
    near: named('--accent'),
    far: named('--good'),
  };
  probe.remove();
  return colours;
}

function hex(colour: string): string {
  const [red = '0', green = '0', blue = '0'] = colour.match(/\d+/g) ?? [];
  return `#${[red, green, blue].map((one) => Number(one).toString(16).padStart(2, '0')).join('')}`;
}
