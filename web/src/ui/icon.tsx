// Icons as strokes of one weight on a 24 by 24 grid. They are decoration: what they mean is said in words beside or behind them.
const paths = {
  add: 'M12 5v14M5 12h14',
  alert: 'M12 4 2.5 20h19zM12 10v4M12 17v.5',
  arrowLeft: 'M19 12H5M11 6l-6 6 6 6',
  check: 'M5 12.5 10 17l9-10',
  chevron: 'M9 6l6 6-6 6',
  close: 'M6 6l12 12M18 6 6 18',
  compare: 'M12 3v18M4 6h4v12H4zM16 6h4v12h-4z',
  copy: 'M9 9h11v11H9zM5 15H4V4h11v1',
  dice: 'M5 5h14v14H5zM9 9v.5M15 15v.5M12 12v.5',
  download: 'M12 4v11M7 11l5 5 5-5M5 20h14',
  film: 'M4 5h16v14H4zM8 5v14M16 5v14M4 9.5h4M4 14.5h4M16 9.5h4M16 14.5h4',
  frameBack: 'M17 6l-8 6 8 6zM6 6v12',
  frameForward: 'M7 6l8 6-8 6zM18 6v12',
  fullscreen: 'M4 9V4h5M15 4h5v5M20 15v5h-5M9 20H4v-5',
  image: 'M4 5h16v14H4zM4 16l5-5 4 4 3-3 4 4M15.5 9v.5',
  list: 'M8 6h12M8 12h12M8 18h12M4 6v.5M4 12v.5M4 18v.5',
  lock: 'M6 11h12v9H6zM8.5 11V8a3.5 3.5 0 0 1 7 0v3',
  loop: 'M5 12a7 7 0 0 1 12-5l2 2M19 5v4h-4M19 12a7 7 0 0 1-12 5l-2-2M5 19v-4h4',
  menu: 'M4 7h16M4 12h16M4 17h16',
  mute: 'M4 9h4l5-4v14l-5-4H4zM17 9.5l5 5M22 9.5l-5 5',
  pause: 'M8 5v14M16 5v14',
  play: 'M7 5l12 7-12 7z',
  plot: 'M4 4v16h16M7 15l4-5 3 3 5-7',
  reset: 'M5 12a7 7 0 1 0 2.5-5.4L5 9M5 4v5h5',
  search: 'M10.5 4a6.5 6.5 0 1 1 0 13 6.5 6.5 0 0 1 0-13zM15.5 15.5 21 21',
  sliders: 'M4 7h9M17 7h3M15 5v4M4 17h3M11 17h9M9 15v4',
  sound: 'M4 9h4l5-4v14l-5-4H4zM17 9a4 4 0 0 1 0 6M19.5 6.5a8 8 0 0 1 0 11',
  star: 'M12 3.5l2.6 5.4 5.9.8-4.3 4.1 1 5.9L12 16.900l-5.200 2.800 1-5.900L3.500 9.700l5.900-.8z',
  stop: 'M6 6h12v12H6z',
  theme: 'M12 4a8 8 0 1 0 0 16zM12 4a8 8 0 0 1 0 16',
  trash: 'M5 7h14M10 7V4h4v3M7 7l1 13h8l1-13',
  unlock: 'M6 11h12v9H6zM8.5 11V8a3.5 3.5 0 0 1 6.700-1.400',
} as const;

/** Name of an icon. */
export type IconName = keyof typeof paths;

/** An icon of the size of the text beside it. */
export function Icon({ name, isFilled = false }: { readonly name: IconName; readonly isFilled?: boolean }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" width="20" height="20" aria-hidden="true" focusable="false">
      <path
        d={paths[name]}
        fill={isFilled ? 'currentColor' : 'none'}
        stroke="currentColor"
        stroke-width="1.8"
        stroke-linecap="round"
        stroke-linejoin="round"
      />
    </svg>
  );
}
