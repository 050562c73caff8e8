"""Running servers: how to ask them, and the prompts that they make of conversations."""

from transplate.servers.live import LiveServer as LiveServer
from transplate.servers.live import open_server as open_server
