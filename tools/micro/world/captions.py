"""Words for scenes: plain captions in several wordings, JSON captions, and prompts formatted as the product sends them."""

import json

SYSTEM_VIDEO = "You are a helpful assistant who will generate videos from a give prompt."
SYSTEM_TRANSFER = (
    "You are a helpful assistant that generates images or videos following the user's instructions and control "
    "signals (edge maps, blur, depth, or segmentation)."
)
DIRECTIVE = (
    "Follow the {hints} control video precisely: shape, contour, silhouette, position, and motion of every visible "
    "structure must align with the {hints} signal at every frame."
)
VIEWPOINTS = {
    "ego_view": "This video is captured from a first-person perspective looking at the scene.",
    "third_person_view": "This video is captured from a third-person perspective looking towards the agent from the front.",
    "wrist_view": "This video is captured from a wrist-mounted camera.",
    "concat_view": "This video contains concatenated views from multiple camera perspectives.",
}
ASPECTS = {(256, 256): "1,1", (320, 256): "4,3", (256, 320): "3,4", (320, 192): "16,9", (192, 320): "9,16"}
HINTS = ("edge", "blur", "depth", "seg", "wsm")

WAYS = {
    "right": ("to the right", "to the right", "right", "from left to right", "rightwards"),
    "left": ("to the left", "to the left", "left", "from right to left", "leftwards"),
    "up": ("up", "up", "upwards", "to the top", "from the bottom to the top"),
    "down": ("down", "down", "downwards", "to the bottom", "from the top to the bottom"),
}
VERBS = ("moves", "moves", "glides", "slides", "travels", "goes")
MOTION_WORDS = {
    "bounce": ("bounces up and down", "bounces on the floor", "bounces on the ground", "is bouncing"),
    "walls": ("bounces between the walls", "bounces off the walls", "moves back and forth between the walls"),
    "orbit": ("circles around the centre {spin}", "orbits the centre {spin}", "moves in a circle {spin}"),
    "grow": ("grows", "gets bigger", "becomes larger"),
    "shrink": ("shrinks", "gets smaller", "becomes smaller"),
    "still": ("stands still", "does not move", "lies still", "rests"),
    "collide": ("collide", "bump into each other", "hit each other and bounce apart", "collide and move apart"),
}
SPEED_WORDS = {"slowly": ("slowly", "slowly", "at low speed"), "quickly": ("quickly", "quickly", "fast", "at high speed")}


def name_of(thing):
    return f"{thing['color']} {thing['shape']}"


def article(words):
    return f"{'an' if words[0] in 'aeiou' else 'a'} {words}"


def toy_action(rng, facts, thing):
    """What one object does, without its speed."""
    if facts["motion"] in ("straight", "pair"):
        verb = "rolls" if thing["shape"] in ("ball", "ring") and rng.random() < 0.4 else str(rng.choice(VERBS))
        return f"{verb} {rng.choice(WAYS[thing['direction']])}"
    return str(rng.choice(MOTION_WORDS[facts["motion"]])).format(spin=facts["spin"])


def plain_toy(rng, facts, still=False):
    """A caption of a toy scene; `still`: of a picture, without motion."""
    things, ground = facts["objects"], facts["background"]
    speed = str(rng.choice(SPEED_WORDS[facts["speed"]]))
    subjects = " and ".join(article(name_of(t)) for t in things)
    if still:
        forms = ("{s} on a {b} background", "a picture of {s} on a {b} background", "{s}, {b} background", "{s}", "an image that shows {s} in front of a {b} background")
        return finish(rng, str(rng.choice(forms)).format(s=subjects, b=ground))
    with_speed = rng.random() < 0.75 and facts["motion"] != "still"
    tail = f" {speed}" if with_speed else ""
    if facts["motion"] == "pair":
        first, second = (f"{article(name_of(t))} {toy_action(rng, facts, t)}" for t in things)
        core = f"{first} and {second}{tail}"
    elif facts["motion"] == "collide":
        core = f"{subjects} {toy_action(rng, facts, things[0])}{tail}"
    else:
        core = f"{subjects} {toy_action(rng, facts, things[0])}{tail}"
    forms = (
        "{c} on a {b} background", "{c} on a {b} background", "{c}. The background is {b}", "a video of {s} on a {b} background. {C}",
        "there is a {b} background. {C}", "{c}", "{c}", "{b} background. {C}", "{c} in front of a {b} background",
    )
    return finish(rng, str(rng.choice(forms)).format(c=core, C=core[0].upper() + core[1:], b=ground, s=subjects))


def finish(rng, text):
    """Chance decides about the capital and the full stop."""
    if rng.random() < 0.5:
        text = text[0].upper() + text[1:]
    return text + ("." if rng.random() < 0.5 else "")


def plain_robot(rng, facts):
    """An instruction or description of a robot or driving scene."""
    if facts["family"] == "drive":
        way = "straight ahead" if facts["turn"] == "straight" else f"and turns {facts['turn']}"
        bare = "straight ahead" if facts["turn"] == "straight" else f"and turn {facts['turn']}"
        speed = str(rng.choice(SPEED_WORDS[facts["speed"]]))
        return finish(rng, str(rng.choice((f"drive {bare} {speed}", f"a car drives {way} {speed} on a road", f"driving on a road, the car drives {speed} {way}", f"drive {bare}"))))
    thing, target = facts["object"], facts["target"]
    if facts["plan"] == "wander":
        return finish(rng, str(rng.choice(("the robot moves around", "move around freely", "the robot explores the scene"))))
    if facts["family"] == "push":
        return finish(rng, str(rng.choice((f"push the {thing} to the {target}", f"push the {thing} into the {target}", f"move the {thing} to the {target}"))))
    forms = (
        f"put the {thing} on the {target}", f"pick up the {thing} and place it on the {target}", f"move the {thing} to the {target}",
        f"put the {thing} into the {target}", f"pick up the {thing} and put it in the {target}", f"the robot puts the {thing} on the {target}",
    )
    return finish(rng, str(rng.choice(forms)))


def plain_caption(rng, facts, still=False):
    return plain_toy(rng, facts, still) if facts["family"] == "toy" else plain_robot(rng, facts)


def json_caption(rng, scene, still=False, fps=24.0):
    """A JSON caption with the metadata the product sets, as it is tokenised."""
    facts = scene.facts
    if facts["family"] == "toy" and rng.random() < 0.6:
        things = facts["objects"]
        caption = {"subject": " and ".join(article(name_of(t)) for t in things)}
        if not still:
            if facts["motion"] == "pair":
                caption["actions"] = [f"the {name_of(t)} {toy_action(rng, facts, t)}" for t in things]
            else:
                caption["action"] = toy_action(rng, facts, things[0])
            caption["speed"] = str(rng.choice(SPEED_WORDS[facts["speed"]]))
        caption["background"] = facts["background"]
    else:
        caption = {str(rng.choice(("caption", "description"))): plain_caption(rng, facts, still)}
    return json.dumps(with_metadata(caption, scene.width, scene.height, 1 if still else scene.frames, fps))


def with_metadata(caption, width, height, frames, fps=24.0):
    """Sets duration and fps (video only) and resolution on a JSON caption."""
    caption = dict(caption)
    if frames > 1:
        caption["duration"], caption["fps"] = f"{int(frames / fps)}s", float(fps)
    caption["resolution"] = {"H": height, "W": width}
    return caption


def action_caption(prompt, width, height, frames, fps=24.0, view="ego_view"):
    """The JSON caption of action tasks."""
    seconds = round(frames / fps)
    text = prompt if prompt.endswith(".") else prompt + "."
    return json.dumps({
        "cinematography": {"framing": VIEWPOINTS[view]},
        "actions": [{"time": f"0:00-{seconds // 60}:{seconds % 60:02d}", "description": text}],
        "duration": f"{int(frames / fps)}s",
        "fps": float(fps),
        "resolution": {"H": height, "W": width},
        "aspect_ratio": ASPECTS[width, height],
    })


def sentences(width, height, frames, fps=24.0, negated=False):
    """Duration (video only) and resolution sentences."""
    no, kind = (" not" if negated else ""), "video" if frames > 1 else "image"
    found = []
    if frames > 1:
        found.append(f"The video is{no} {frames / fps:.1f} seconds long and is{no} of {fps:.0f} FPS.")
    found.append(f"This {kind} is{no} of {height}x{width} resolution.")
    return found


def with_sentences(prompt, width, height, frames, fps=24.0, negated=False):
    text = prompt.strip().rstrip(".")
    tail = " ".join(sentences(width, height, frames, fps, negated))
    return f"{text}. {tail}" if text else tail


def transfer_prompt(prompt, width, height, frames, hints, fps=24.0):
    return with_sentences(prompt, width, height, frames, fps).rstrip() + " " + DIRECTIVE.format(hints=", ".join(hints))


def chat(user, system=None):
    """The chat template with its generation prompt and the two framing tokens."""
    head = f"<|im_start|>system\n{system}<|im_end|>\n" if system else ""
    return f"{head}<|im_start|>user\n{user}<|im_end|>\n<|im_start|>assistant\n<|im_end|><|vision_start|>"
