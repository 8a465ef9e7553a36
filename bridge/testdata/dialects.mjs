// Programs with the stock libraries against a broker: node dialects.mjs MODULES ADDRESS.
// It prints what it finds, a line each: name, and JSON.
import { createRequire } from 'node:module'
import { join } from 'node:path'

const [modules, address] = process.argv.slice(2)
const require = createRequire(join(modules, 'node_modules', 'x.js'))
const say = (name, value) => console.log(name + ' ' + JSON.stringify(value))
const later = (ms, what) => new Promise((_, reject) => setTimeout(() => reject(new Error('nothing came of ' + what)), ms).unref())
const within = (promise, what) => Promise.race([promise, later(30000, what)])

async function roslib(name, lib, cbor) {
  const ros = new lib.Ros({ url: `ws://${address}/rosbridge` })
  await within(new Promise((done, fail) => { ros.on('connection', done); ros.on('error', fail) }), name + ' connection')
  const ask = (f, ...args) => within(new Promise((done, fail) => f.call(ros, ...args, done, fail)), name + ' ' + f.name)
  const first = (options) => within(new Promise(done => {
    const topic = new lib.Topic({ ros, ...options })
    topic.subscribe(message => { topic.unsubscribe(); done(message) })
  }), name + ' ' + options.name)

  const scan = await first({ name: '/base_scan', messageType: 'sensor_msgs/LaserScan' })
  say(name + ' scan', [scan.header.frame_id, scan.ranges.length, scan.ranges[4] > 1 && scan.ranges[4] < 2.9])
  const topics = await ask(ros.getTopics)
  say(name + ' topics', topics.topics.filter(t => ['/base_scan', '/odom', '/cmd_vel', '/tf', '/map', '/rosout'].includes(t)).sort())
  say(name + ' type', await ask(ros.getTopicType, '/odom'))
  say(name + ' nodes', await ask(ros.getNodes))
  say(name + ' service', await ask(ros.getServiceType, '/motors'))
  const details = await ask(ros.getMessageDetails, 'geometry_msgs/Twist')
  say(name + ' details', details.map(d => d.type))
  const raw = await first({ name: '/base_scan', messageType: 'sensor_msgs/LaserScan', compression: 'cbor' })
  say(name + ' cbor', [raw.ranges.constructor.name, raw.ranges[4] > 1 && raw.ranges[4] < 2.9])
  const odom = await first({ name: '/odom', messageType: 'nav_msgs/Odometry', compression: 'cbor', queue_length: 1, throttle_rate: 100 })
  say(name + ' odometry', [odom.child_frame_id, odom.pose.covariance.length])
  const map = await first({ name: '/map', messageType: 'nav_msgs/OccupancyGrid', compression: 'png' })
  say(name + ' map', map.data.length === map.info.width * map.info.height)
  const near = await first({ name: '/base_scan?condition=laser.min%20%3C%20100&trigger=rising', messageType: 'sensor_msgs/LaserScan' })
  say(name + ' condition', near.ranges.length)

  const motors = new lib.Service({ ros, name: '/motors', serviceType: 'std_srvs/SetBool' })
  const request = lib.ServiceRequest ? new lib.ServiceRequest({ data: true }) : { data: true }
  say(name + ' call', await within(new Promise((done, fail) => motors.callService(request, done, fail)), name + ' call'))
  const none = new lib.Service({ ros, name: '/none', serviceType: 'std_srvs/Empty' })
  say(name + ' no service', await within(new Promise(done => none.callService(lib.ServiceRequest ? new lib.ServiceRequest({}) : {}, () => done(''), done)), name + ' no service'))

  const add = { ros, name: `/${name}/add`, serviceType: 'rospy_tutorials/AddTwoInts' }
  const offered = new lib.Service(add)
  offered.advertise((request, response) => { response.sum = request.a + request.b; return request.b > 0 })
  const adds = numbers => within(new Promise(done => new lib.Service(add).callService(lib.ServiceRequest ? new lib.ServiceRequest(numbers) : numbers, done, why => done({ failed: why !== undefined }))), name + ' add')
  say(name + ' offers', [await adds({ a: 1, b: 2 }), await adds({ a: 1, b: -2 })])
  offered.unadvertise()

  const speeds = new lib.Topic({ ros, name: '/odom', messageType: 'nav_msgs/Odometry' })
  const goes = speed => within(new Promise(done => {
    const look = message => { if (Math.abs(message.twist.twist.linear.x - speed) < 1e-6) { speeds.unsubscribe(look); done(true) } }
    speeds.subscribe(look)
  }), name + ' speed ' + speed)
  const cmd = new lib.Topic({ ros, name: '/cmd_vel', messageType: 'geometry_msgs/Twist' })
  const twist = { linear: { x: 0.25, y: 0, z: 0 }, angular: { x: 0, y: 0, z: 0 } }
  cmd.publish(lib.Message ? new lib.Message(twist) : twist)
  await goes(0.25)
  await goes(0)
  say(name + ' drives', true)

  for (const groovyCompatibility of [true, false]) { // as an action, by the service
    const Client = lib.TFClient ?? lib.ROS2TFClient
    const tf = new Client({ ros, fixedFrame: '/map', angularThres: 0.01, transThres: 0.01, rate: 10, groovyCompatibility })
    const at = await within(new Promise(done => tf.subscribe('base_laser_link', done)), name + ' transforms')
    say(name + ' transform', at.translation.x > odom.pose.pose.position.x + 0.3 && Math.abs(at.rotation.w) > 0.9) // it has driven
  }
  ros.close()
}

async function foxglove() {
  const { FoxgloveClient } = require('@foxglove/ws-protocol')
  const { WebSocket } = require('ws')
  const { parse } = require('@foxglove/rosmsg')
  const { MessageReader, MessageWriter } = require('@foxglove/rosmsg-serialization')
  const client = new FoxgloveClient({ ws: new WebSocket(`ws://${address}/foxglove`, [FoxgloveClient.SUPPORTED_SUBPROTOCOL, 'foxglove.sdk.v1']) })
  const channels = new Map(), services = new Map(), wanted = new Map()
  const statuses = []
  client.on('serverInfo', info => say('foxglove info', [info.capabilities.includes('clientPublish'), info.metadata]))
  client.on('advertise', all => all.forEach(c => { channels.set(c.topic, c); wanted.get(c.topic)?.(c) }))
  client.on('advertiseServices', all => all.forEach(s => { services.set(s.name, s); wanted.get(s.name)?.(s) }))
  client.on('status', s => statuses.push(s.message))
  await within(new Promise((done, fail) => { client.on('open', done); client.on('error', fail) }), 'foxglove connection')
  const there = (all, name) => within(new Promise(done => all.has(name) ? done(all.get(name)) : wanted.set(name, done)), 'foxglove ' + name)
  const first = async topic => {
    const channel = await there(channels, topic)
    const reader = channel.encoding === 'json' ? { readMessage: d => JSON.parse(new TextDecoder().decode(d)) } : new MessageReader(parse(channel.schema, { ros2: false }))
    const id = client.subscribe(channel.id)
    return within(new Promise(done => {
      const look = event => {
        if (event.subscriptionId !== id) return
        client.off('message', look)
        client.unsubscribe(id)
        done(reader.readMessage(event.data))
      }
      client.on('message', look)
    }), 'foxglove ' + topic)
  }
  const scan = await first('/base_scan')
  say('foxglove scan', [scan.header.frame_id, scan.ranges.length, scan.ranges[4] > 1 && scan.ranges[4] < 2.9])
  const odom = await first('/odom')
  say('foxglove odometry', [odom.child_frame_id, odom.pose.covariance.length])
  const map = await first('/map')
  say('foxglove map', map.data.length === map.info.width * map.info.height)
  const tf = await first('/tf')
  say('foxglove transforms', tf.transforms.map(t => t.child_frame_id))

  const call = async (name, request) => {
    const service = await there(services, name)
    client.sendServiceCallRequest({ serviceId: service.id, callId: 7, encoding: 'json', data: new TextEncoder().encode(JSON.stringify(request)) })
    return within(new Promise((done, fail) => {
      client.on('serviceCallResponse', r => done(JSON.parse(new TextDecoder().decode(r.data))))
      client.on('serviceCallFailure', f => fail(new Error(f.message)))
    }), 'foxglove ' + name)
  }
  say('foxglove condition', await call('/callboard/subscribe', { id: 'near', condition: 'laser.min < 100', select: { min: 'laser.min' } }))
  const near = await first('/callboard/condition/near')
  say('foxglove values', [near.robot, near.values.min > 1 && near.values.min < 2.9])
  const channel = client.advertise({ topic: '/cmd_vel', encoding: 'ros1', schemaName: 'geometry_msgs/Twist' })
  const writer = new MessageWriter(parse('geometry_msgs/Vector3 linear\ngeometry_msgs/Vector3 angular\n================================================================================\nMSG: geometry_msgs/Vector3\nfloat64 x\nfloat64 y\nfloat64 z\n', { ros2: false }))
  client.sendMessage(channel, writer.writeMessage({ linear: { x: 0.5, y: 0, z: 0 }, angular: { x: 0, y: 0, z: 0 } }))
  for (;;) if (Math.abs((await first('/odom')).twist.twist.linear.x - 0.5) < 1e-6) break
  client.unadvertise(channel)
  for (;;) if ((await first('/odom')).twist.twist.linear.x === 0) break
  say('foxglove drives', true)
  say('foxglove statuses', statuses)
  client.close()
}

const lib1 = require('roslib1')
const path2 = 'file://' + join(modules, 'node_modules', 'roslib2', 'dist', 'RosLib.js')
await roslib('roslib1', lib1)
await roslib('roslib2', await import(path2))
await foxglove()
process.exit(0)
